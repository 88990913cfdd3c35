//! What is sent, and under which name.

use super::*;

fn check() -> HttpCheck {
    HttpCheck {
        path: "/health?full=1".to_owned(),
        host: None,
        method: "GET".to_owned(),
        headers: Vec::new(),
        expected_status: Vec::new(),
        contains: None,
        tls: false,
        insecure_skip_verify: false,
    }
}

fn host(address: &str, check: &HttpCheck) -> String {
    let request = request(address.parse().unwrap(), check).unwrap();
    request.headers()[HOST].to_str().unwrap().to_owned()
}

#[test]
fn host_is_the_address_and_its_port_unless_that_is_the_usual_one() {
    let plain = check();
    assert_eq!(host("192.0.2.1:8080", &plain), "192.0.2.1:8080");
    assert_eq!(host("192.0.2.1:80", &plain), "192.0.2.1");
    assert_eq!(host("[2001:db8::1]:80", &plain), "[2001:db8::1]");
    assert_eq!(host("[2001:db8::1]:443", &plain), "[2001:db8::1]:443");
    let tls = HttpCheck { tls: true, ..check() };
    assert_eq!(host("[2001:db8::1]:443", &tls), "[2001:db8::1]");
}

#[test]
fn the_checks_host_wins_over_the_address_and_a_header_over_both() {
    let mut check = HttpCheck {
        host: Some("www.example".to_owned()),
        ..check()
    };
    assert_eq!(host("192.0.2.1:8080", &check), "www.example");
    check.headers = vec![("host".to_owned(), "other.example".to_owned())];
    assert_eq!(host("192.0.2.1:8080", &check), "other.example");
}

#[test]
fn headers_are_sent_as_given_and_in_addition_to_the_usual_ones() {
    let mut check = check();
    check.method = "POST".to_owned();
    check.headers = [("X-A", "1"), ("X-A", " 2 "), ("User-Agent", "mine")]
        .map(|(n, v)| (n.to_owned(), v.to_owned()))
        .into();
    let request = request("192.0.2.1:80".parse().unwrap(), &check).unwrap();
    assert_eq!(request.method(), "POST");
    assert_eq!(request.uri(), "/health?full=1");
    let values: Vec<_> = request.headers().get_all("x-a").iter().collect();
    assert_eq!(values, ["1", "2"]);
    assert_eq!(request.headers()[USER_AGENT], "mine");
    assert_eq!(request.headers()[CONNECTION], "close");
}

#[test]
fn what_cannot_be_sent_is_said_and_not_sent() {
    let bad = [
        HttpCheck {
            method: "G T".to_owned(),
            ..check()
        },
        HttpCheck {
            path: "/a<b".to_owned(),
            ..check()
        },
        HttpCheck {
            host: Some("a\nb".to_owned()),
            ..check()
        },
        HttpCheck {
            headers: vec![("X".to_owned(), "a\r\nY: b".to_owned())],
            ..check()
        },
    ];
    for check in bad {
        let error = request("192.0.2.1:80".parse().unwrap(), &check).unwrap_err();
        assert!(matches!(error, ProbeError::Check(_)), "{error}");
    }
}

#[test]
fn the_name_for_tls_is_the_host_without_its_port() {
    let ip = "192.0.2.1".parse().unwrap();
    let name = |host| server_name(ip, host).unwrap().to_str().into_owned();
    assert_eq!(name(None), "192.0.2.1");
    assert_eq!(name(Some("www.example")), "www.example");
    assert_eq!(name(Some("www.example:8443")), "www.example");
    assert_eq!(name(Some("[2001:db8::1]:8443")), "2001:db8::1");
    assert_eq!(name(Some("2001:db8::1")), "2001:db8::1");
    assert!(server_name(ip, Some("no host")).is_err());
}
