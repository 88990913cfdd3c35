//! Options of sockets, and what the kernel tells of them, where the standard library and socket2 have no call.

#![expect(
    unsafe_code,
    reason = "these options of setsockopt and getsockopt exist only as C interfaces"
)]

use super::socklen;
use crate::share::Queue;
use socket2::Socket;
use std::io;
use std::mem::size_of;
use std::os::fd::AsRawFd;
use std::ptr;

/// Asks the kernel to tell the local address of each datagram: for sockets bound to the wildcard address.
///
/// # Errors
/// Those of `setsockopt`.
pub(crate) fn want_local_address(socket: &Socket, v6: bool) -> io::Result<()> {
    let (level, option) = if v6 {
        (libc::IPPROTO_IPV6, libc::IPV6_RECVPKTINFO)
    } else {
        (libc::IPPROTO_IP, libc::IP_PKTINFO)
    };
    set_option(socket, level, option, 1)
}

/// Forbids that replies are cut into fragments, here and on their way: they fit every path as they are, and a forged
/// fragment could take the place of a true one (RFC 9715). What the network says about smaller paths is not believed, for
/// the same reason. (It also spares the kernel the choice of an identifier for each datagram.)
///
/// # Errors
/// Those of `setsockopt`.
pub(crate) fn forbid_fragments(socket: &Socket, v6: bool) -> io::Result<()> {
    if v6 {
        set_option(
            socket,
            libc::IPPROTO_IPV6,
            libc::IPV6_MTU_DISCOVER,
            libc::IPV6_PMTUDISC_PROBE,
        )
    } else {
        set_option(
            socket,
            libc::IPPROTO_IP,
            libc::IP_MTU_DISCOVER,
            libc::IP_PMTUDISC_PROBE,
        )
    }
}

/// How full the receive queue of a socket is, and what it has lost. `None`: the kernel does not tell.
pub(crate) fn queue(socket: &Socket) -> Option<Queue> {
    // `SK_MEMINFO_VARS` of them: the first and second, and the last, are of use here.
    let mut numbers = [0_u32; 9];
    let mut length = socklen(size_of_val(&numbers));
    // SAFETY: the option's value is an array of such numbers, whose address and size are passed; the kernel writes no more.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_MEMINFO,
            numbers.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    let [waiting, size, .., lost] = numbers;
    (result == 0 && length == socklen(size_of_val(&numbers))).then_some(Queue { waiting, size, lost })
}

fn set_option(
    socket: &Socket,
    level: libc::c_int,
    option: libc::c_int,
    value: libc::c_int,
) -> io::Result<()> {
    // SAFETY: the option's value is one int, whose address and size are passed.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            ptr::from_ref(&value).cast(),
            socklen(size_of::<libc::c_int>()),
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
