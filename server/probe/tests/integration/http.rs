//! The http prober: what counts as healthy, and backends that try to hold it up.

use crate::stub::{Reply, Stub, closed_port, failure, http, http_with, probe};
use gslb_engine::model::{HealthCheck, StatusRange};
use gslb_probe::HealthState;

/// Why a backend with this reply fails; empty when it does not.
async fn fails(reply: Reply, check: HealthCheck) -> String {
    failure(Stub::start(reply).await.address, check).await
}

fn contains(text: &str) -> HealthCheck {
    http_with(1_000, |c| c.contains = Some(text.to_owned()))
}

#[tokio::test]
async fn status_200_is_up_over_ipv4_and_ipv6() {
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let stub = Stub::bind(address, Reply::status(200)).await;
        let status = probe(stub.address, http(1_000)).await;
        assert_eq!((status.state, status.last_error), (HealthState::Up, None));
        assert!(status.rtt_ns.is_some());
        let head = &stub.heads()[0];
        assert!(head.starts_with("GET / HTTP/1.1\r\n"), "{head}");
        assert!(head.contains(&format!("host: {}\r\n", stub.address)), "{head}");
    }
}

#[tokio::test]
async fn status_503_is_down() {
    assert_eq!(
        fails(Reply::status(503), http(1_000)).await,
        "status 503, expected 200-399"
    );
}

#[tokio::test]
async fn an_empty_list_accepts_every_status() {
    assert_eq!(
        fails(
            Reply::status(503),
            http_with(1_000, |c| c.expected_status.clear())
        )
        .await,
        ""
    );
}

#[tokio::test]
async fn redirects_are_judged_and_not_followed() {
    let other = Stub::start(Reply::status(200)).await;
    let redirect = format!(
        "HTTP/1.1 302 Found\r\nLocation: http://{}/\r\nContent-Length: 0\r\n\r\n",
        other.address
    );
    assert_eq!(fails(Reply::text(&redirect), http(1_000)).await, "");
    let only_200 = http_with(1_000, |c| {
        c.expected_status = vec![StatusRange { from: 200, to: 200 }];
    });
    assert_eq!(
        fails(Reply::text(&redirect), only_200).await,
        "status 302, expected 200"
    );
    assert_eq!(other.hits(), 0);
}

#[tokio::test]
async fn method_path_host_and_headers_are_sent() {
    let stub = Stub::start(Reply::status(204)).await;
    let check = http_with(1_000, |c| {
        c.method = "HEAD".to_owned();
        c.path = "/ready?deep=1".to_owned();
        c.host = Some("www.example".to_owned());
        c.headers = vec![("X-Token".to_owned(), "abc".to_owned())];
    });
    assert_eq!(failure(stub.address, check).await, "");
    let head = stub.heads().remove(0);
    assert!(head.starts_with("HEAD /ready?deep=1 HTTP/1.1\r\n"), "{head}");
    assert!(
        head.contains("host: www.example\r\n") && head.contains("x-token: abc\r\n"),
        "{head}"
    );
}

#[tokio::test]
async fn a_text_is_found_across_pieces() {
    let pieces = [
        "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n",
        "all ",
        "is w",
        "ell",
        " ok",
    ];
    let whole = Reply::Pieces(pieces.map(|p| p.as_bytes().to_vec()).into());
    assert_eq!(fails(whole, contains("is well")).await, "");
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nis we\r\n2\r\nll\r\n0\r\n\r\n";
    assert_eq!(fails(Reply::text(chunked), contains("is well")).await, "");
    let until_close = "HTTP/1.1 200 OK\r\n\r\nall is well";
    assert_eq!(fails(Reply::text(until_close), contains("is well")).await, "");
}

#[tokio::test]
async fn a_missing_text_is_down() {
    assert_eq!(
        fails(Reply::body("sick"), contains("well")).await,
        "the body does not contain `well`"
    );
}

#[tokio::test]
async fn the_text_must_be_in_the_first_megabyte() {
    let last = format!("{}well", "x".repeat((1 << 20) - 4));
    assert_eq!(fails(Reply::body(&last), contains("well")).await, "");
    let late = format!("{}well", "x".repeat((1 << 20) - 3));
    assert_eq!(
        fails(Reply::body(&late), contains("well")).await,
        "the body does not contain `well` in its first megabyte"
    );
}

#[tokio::test]
async fn a_body_without_end_ends_with_the_megabyte() {
    let mut pieces = vec![b"HTTP/1.1 200 OK\r\n\r\n".to_vec()];
    pieces.resize(200, vec![b'x'; 10_000]);
    let error = fails(Reply::Pieces(pieces), contains("well")).await;
    assert_eq!(error, "the body does not contain `well` in its first megabyte");
}

#[tokio::test]
async fn every_wait_ends_with_the_timeout() {
    let short = |check: HealthCheck| HealthCheck {
        timeout_ms: 150,
        ..check
    };
    let head = "timeout after 150 ms during the wait for the response";
    let body = "timeout after 150 ms during the response body";
    assert_eq!(fails(Reply::Hang, short(http(1_000))).await, head);
    assert_eq!(
        fails(
            Reply::Trickle("HTTP/1.1 200 OK\r\n", "A: b\r\n"),
            short(http(1_000))
        )
        .await,
        head
    );
    assert_eq!(
        fails(
            Reply::Trickle("", "HTTP/1.1 103 Early\r\n\r\n"),
            short(http(1_000))
        )
        .await,
        head
    );
    assert_eq!(
        fails(
            Reply::Trickle("HTTP/1.1 200 OK\r\n\r\n", "x"),
            short(contains("well"))
        )
        .await,
        body
    );
}

#[tokio::test]
async fn a_slow_body_is_not_waited_for_without_need() {
    assert_eq!(
        fails(Reply::Trickle("HTTP/1.1 200 OK\r\n\r\n", "x"), http(1_000)).await,
        ""
    );
}

#[tokio::test]
async fn a_head_without_measure_is_refused() {
    let huge = format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "x".repeat(200_000));
    assert_eq!(
        fails(Reply::text(&huge), http(1_000)).await,
        "the head of the response is larger than 64 KiB"
    );
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(1_000));
    assert_eq!(
        fails(Reply::text(&many), http(1_000)).await,
        "the head of the response is larger than 64 KiB"
    );
}

#[tokio::test]
async fn resets_and_early_ends_are_named() {
    let reset = fails(
        Reply::Reset("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nwe"),
        contains("well"),
    )
    .await;
    assert_eq!(reset, "connection reset during the response body");
    assert_eq!(
        fails(Reply::Reset("HTTP/1.1 2"), http(1_000)).await,
        "connection reset during the wait for the response"
    );
    assert_eq!(
        fails(Reply::text(""), http(1_000)).await,
        "connection closed during the wait for the response"
    );
    let short = Reply::text("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nwe");
    assert_eq!(
        fails(short, contains("well")).await,
        "connection closed during the response body"
    );
    assert_eq!(
        failure(closed_port("127.0.0.1").await, http(1_000)).await,
        "connection refused"
    );
}

#[tokio::test]
async fn what_is_no_http_is_down() {
    let error = fails(Reply::text("220 mail.example ESMTP\r\n\r\n"), http(1_000)).await;
    assert!(error.starts_with("no valid HTTP response ("), "{error}");
}
