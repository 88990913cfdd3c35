//! TCP (RFC 7766): an accept loop for each listen address, a task for each connection.

mod connection;
mod limits;

use crate::bridge::Context;
use crate::settings::TcpLimits;
use crate::slow::SlowLane;
use crate::stats::Slot;
use limits::Limiter;
use std::net::TcpListener as StdListener;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Pause after a failed accept: mostly for want of file descriptors, which only come back with time.
const PAUSE: Duration = Duration::from_millis(50);

/// What all connections share.
#[derive(Debug, Clone)]
pub(crate) struct TcpService {
    context: Arc<Context>,
    /// Takes queries that may have to wait for a script.
    slow: Arc<SlowLane>,
    slot: Arc<Slot>,
    limiter: Arc<Limiter>,
    idle: Duration,
    /// No new connections; those that are open answer what they have and close.
    stop: CancellationToken,
    /// Close at once.
    abort: CancellationToken,
    tasks: TaskTracker,
}

impl TcpService {
    pub(crate) fn new(context: &Arc<Context>, slow: &Arc<SlowLane>, limits: &TcpLimits) -> Self {
        Self {
            context: Arc::clone(context),
            slow: Arc::clone(slow),
            slot: context.stats.slot(),
            limiter: Limiter::new(limits),
            idle: limits.idle,
            stop: CancellationToken::new(),
            abort: CancellationToken::new(),
            tasks: TaskTracker::new(),
        }
    }

    /// Starts the accept loop of a listener. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// When the runtime cannot watch the socket.
    pub(crate) fn listen(&self, listener: StdListener) -> std::io::Result<()> {
        let listener = TcpListener::from_std(listener)?;
        let service = self.clone();
        self.tasks.spawn(async move {
            // The listener is closed with the future, at the latest when it is told to stop.
            let stop = service.stop.clone();
            stop.run_until_cancelled(service.accept(listener)).await;
        });
        Ok(())
    }

    async fn accept(&self, listener: TcpListener) {
        let mut failing = false;
        loop {
            let (stream, peer) = match listener.accept().await {
                Ok(accepted) => accepted,
                // One connection was gone before it was accepted.
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionAborted => continue,
                Err(error) => {
                    // Said once for a row of failures.
                    if !std::mem::replace(&mut failing, true) {
                        tracing::warn!(%error, "DNS connections cannot be accepted");
                    }
                    tokio::time::sleep(PAUSE).await;
                    continue;
                }
            };
            failing = false;
            let Some(permit) = self.limiter.admit(peer.ip()) else {
                self.context.stats.tcp_refused();
                continue;
            };
            let service = self.clone();
            self.tasks.spawn(async move {
                service.context.stats.tcp_opened();
                let abort = service.abort.clone();
                abort.run_until_cancelled(service.serve(stream, peer)).await;
                service.context.stats.tcp_closed();
                drop(permit);
            });
        }
    }

    /// Tells everything to end. Does not wait.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
        self.tasks.close();
    }

    /// Waits until all connections have ended; after `grace` they are closed.
    pub(crate) async fn drain(&self, grace: Duration) {
        if tokio::time::timeout(grace, self.tasks.wait()).await.is_err() {
            self.abort.cancel();
            self.tasks.wait().await;
        }
    }
}
