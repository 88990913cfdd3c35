//! Batches of datagrams: `recvmmsg` and `sendmmsg`, with the local address of each datagram.
//!
//! The standard library moves one datagram a system call and cannot tell which of the host's addresses a datagram came
//! to, so that this module talks to the C interface. Why it is sound:
//!
//! - The headers that hold raw pointers are built on the stack for each call, out of `&mut self`, and are gone when it
//!   returns. Nothing keeps a pointer between calls, so that a [`Batch`] may move.
//! - Every pointer goes with the length of the array it points into. The kernel writes at most that much, and says how
//!   much; that number is clamped before it is used as an index.
//! - All memory that the kernel may write is initialised beforehand, and any bit pattern is a valid `u8` or
//!   `sockaddr_storage`.
//! - Control messages are read by the `CMSG_*` functions, only inside the length that the kernel reported; the buffer is
//!   aligned for `cmsghdr`. The packet information is copied out unaligned.

#![expect(
    unsafe_code,
    reason = "recvmmsg, sendmmsg and control messages exist only as C interfaces"
)]

use super::socklen;
use socket2::Socket;
use std::io;
use std::mem::size_of;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::AsRawFd;
use std::ptr;

/// Datagrams a system call moves at most. More would only spread the buffers over more cache.
pub(crate) const BATCH: usize = 16;
/// Octets of a receive buffer: more than the payload that is advertised; longer datagrams are cut and marked.
const STRIDE: usize = 1280;
/// Octets of a control buffer: room for one `in_pktinfo` or `in6_pktinfo`.
const CONTROL: usize = 64;

/// Storage for control messages, aligned for `cmsghdr`.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Control([u8; CONTROL]);

/// One datagram with the room for its reply.
#[derive(Clone)]
struct Entry {
    data: [u8; STRIDE],
    length: usize,
    oversize: bool,
    peer: libc::sockaddr_storage,
    peer_length: libc::socklen_t,
    control: Control,
    control_length: usize,
    /// Octets of the reply that stands in `data`; with 0 the reply is the other one.
    in_place: usize,
    reply: Vec<u8>,
}

/// A received datagram, and where its reply goes: over its own payload, or beside it. Without either nothing is sent.
#[derive(Debug)]
pub(crate) struct Datagram<'b> {
    /// The receive buffer.
    pub(crate) buffer: &'b mut [u8; STRIDE],
    /// Octets of the payload in it, which was cut if it did not fit.
    pub(crate) length: &'b mut usize,
    /// The sender.
    pub(crate) peer: SocketAddr,
    /// Whether the payload was cut.
    pub(crate) oversize: bool,
    /// Octets of the reply, if it was written over the payload.
    pub(crate) in_place: &'b mut usize,
    /// The reply, if it was not.
    pub(crate) reply: &'b mut Vec<u8>,
}

#[cfg(test)]
impl Datagram<'_> {
    /// The payload.
    pub(crate) fn payload(&self) -> &[u8] {
        self.buffer.get(..*self.length).unwrap_or_default()
    }
}

/// Up to [`BATCH`] datagrams and their replies.
pub(crate) struct Batch {
    entries: Box<[Entry]>,
    received: usize,
}

impl Batch {
    pub(crate) fn new() -> Self {
        let entry = || Entry {
            data: [0; STRIDE],
            length: 0,
            oversize: false,
            peer: EMPTY_ADDRESS,
            peer_length: 0,
            control: Control([0; CONTROL]),
            control_length: 0,
            in_place: 0,
            reply: Vec::with_capacity(STRIDE),
        };
        Self {
            entries: std::iter::repeat_with(entry).take(BATCH).collect(),
            received: 0,
        }
    }

    /// Waits for a datagram and takes what else is there (`wait`), or takes only what is there. Forgets the batch before.
    ///
    /// # Errors
    /// Those of `recvmmsg`: `WouldBlock` when nothing is there (or the socket's receive timeout has passed),
    /// `Interrupted` after a signal.
    pub(crate) fn receive(&mut self, socket: &Socket, wait: bool) -> io::Result<usize> {
        self.received = 0;
        let mut parts = [EMPTY_PART; BATCH];
        let mut headers = [EMPTY_HEADER; BATCH];
        for ((entry, part), header) in self.entries.iter_mut().zip(&mut parts).zip(&mut headers) {
            entry.reply.clear();
            entry.in_place = 0;
            *part = libc::iovec {
                iov_base: entry.data.as_mut_ptr().cast(),
                iov_len: STRIDE,
            };
            let message = &mut header.msg_hdr;
            message.msg_name = ptr::from_mut(&mut entry.peer).cast();
            message.msg_namelen = socklen(size_of::<libc::sockaddr_storage>());
            message.msg_iov = part;
            message.msg_iovlen = 1;
            message.msg_control = entry.control.0.as_mut_ptr().cast();
            message.msg_controllen = CONTROL;
        }
        let flags = if wait {
            libc::MSG_WAITFORONE
        } else {
            libc::MSG_DONTWAIT
        };
        // SAFETY: `headers` holds BATCH headers; each points to one iovec, one address and one control buffer inside
        // `self` or `parts`, all of which outlive the call and are not otherwise borrowed during it.
        let received = unsafe {
            libc::recvmmsg(
                socket.as_raw_fd(),
                headers.as_mut_ptr(),
                BATCH as _,
                flags,
                ptr::null_mut(),
            )
        };
        self.received = count(received)?;
        for (entry, header) in self.entries.iter_mut().zip(&headers).take(self.received) {
            entry.length = usize::try_from(header.msg_len).unwrap_or(0).min(STRIDE);
            entry.oversize = header.msg_hdr.msg_flags & libc::MSG_TRUNC != 0;
            entry.peer_length = header
                .msg_hdr
                .msg_namelen
                .min(socklen(size_of::<libc::sockaddr_storage>()));
            entry.control_length = header.msg_hdr.msg_controllen.min(CONTROL);
        }
        Ok(self.received)
    }

    /// The received datagram at `index`. `None`: past the end, or without a sender that can be answered.
    #[inline]
    pub(crate) fn datagram(&mut self, index: usize) -> Option<Datagram<'_>> {
        let entry = self.entries.get_mut(..self.received)?.get_mut(index)?;
        let peer = socket_address(&entry.peer, entry.peer_length).filter(|peer| peer.port() != 0)?;
        Some(Datagram {
            buffer: &mut entry.data,
            length: &mut entry.length,
            peer,
            oversize: entry.oversize,
            in_place: &mut entry.in_place,
            reply: &mut entry.reply,
        })
    }

    /// The payload of the datagram at `index`, cut if it did not fit.
    #[inline]
    pub(crate) fn payload(&self, index: usize) -> &[u8] {
        let entry = self.entries.get(index);
        entry
            .and_then(|entry| entry.data.get(..entry.length))
            .unwrap_or_default()
    }

    /// The datagram at `index` alone, to be answered elsewhere. In here it stays without a reply.
    pub(crate) fn apart(&self, index: usize) -> Option<Self> {
        let entry = self.entries.get(..self.received)?.get(index)?.clone();
        Some(Self {
            entries: Box::new([entry]),
            received: 1,
        })
    }

    /// Sends the replies, each from the address that its query came to. Returns how many the kernel refused.
    pub(crate) fn send(&mut self, socket: &Socket) -> usize {
        let mut parts = [EMPTY_PART; BATCH];
        let mut headers = [EMPTY_HEADER; BATCH];
        let mut used = 0;
        let entries = self
            .entries
            .iter_mut()
            .take(self.received)
            .filter(|entry| entry.in_place > 0 || !entry.reply.is_empty());
        for ((entry, part), header) in entries.zip(&mut parts).zip(&mut headers) {
            let reply = match entry.data.get_mut(..entry.in_place) {
                Some(reply) if !reply.is_empty() => reply,
                _ => &mut entry.reply,
            };
            *part = libc::iovec {
                iov_base: reply.as_mut_ptr().cast(),
                iov_len: reply.len(),
            };
            let message = &mut header.msg_hdr;
            message.msg_name = ptr::from_mut(&mut entry.peer).cast();
            message.msg_namelen = entry.peer_length;
            message.msg_iov = part;
            message.msg_iovlen = 1;
            message.msg_control = entry.control.0.as_mut_ptr().cast();
            message.msg_controllen = entry.control_length;
            leave_route_open(message);
            if message.msg_controllen == 0 {
                message.msg_control = ptr::null_mut();
            }
            used += 1;
        }
        let mut rest = headers.get_mut(..used).unwrap_or_default();
        let mut refused = 0;
        while !rest.is_empty() {
            // SAFETY: `rest` holds that many headers, which point into `self` and `parts`; the kernel only reads there
            // (and writes `msg_len`).
            let sent = unsafe {
                libc::sendmmsg(
                    socket.as_raw_fd(),
                    rest.as_mut_ptr(),
                    libc::c_uint::try_from(rest.len()).unwrap_or(0),
                    0,
                )
            };
            let done = match count(sent) {
                // Zero cannot come back for a list that is not empty; counting it as refused ends the loop anyway.
                Ok(0) => None,
                Ok(sent) => Some(sent),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // The first of the rest was refused (no route, filtered): the others are still sent.
                Err(_) => None,
            };
            refused += usize::from(done.is_none());
            rest = rest.get_mut(done.unwrap_or(1)..).unwrap_or_default();
        }
        refused
    }
}

const EMPTY_PART: libc::iovec = libc::iovec {
    iov_base: ptr::null_mut(),
    iov_len: 0,
};
// SAFETY: a header of zeros is valid: null pointers with lengths of zero.
const EMPTY_HEADER: libc::mmsghdr = unsafe { std::mem::zeroed() };

// SAFETY: any octets are a valid `sockaddr_storage`; zeros are an address of no family.
const EMPTY_ADDRESS: libc::sockaddr_storage = unsafe { std::mem::zeroed() };

/// The address in `storage`, of which the kernel has written `length` octets.
fn socket_address(storage: &libc::sockaddr_storage, length: libc::socklen_t) -> Option<SocketAddr> {
    let length = usize::try_from(length).ok()?;
    match libc::c_int::from(storage.ss_family) {
        libc::AF_INET if length >= size_of::<libc::sockaddr_in>() => {
            // SAFETY: the storage is larger and no less aligned, and any octets are a valid `sockaddr_in`.
            let v4 = unsafe { ptr::from_ref(storage).cast::<libc::sockaddr_in>().read() };
            let ip = Ipv4Addr::from_bits(u32::from_be(v4.sin_addr.s_addr));
            Some(SocketAddrV4::new(ip, u16::from_be(v4.sin_port)).into())
        }
        libc::AF_INET6 if length >= size_of::<libc::sockaddr_in6>() => {
            // SAFETY: as above, for `sockaddr_in6`.
            let v6 = unsafe { ptr::from_ref(storage).cast::<libc::sockaddr_in6>().read() };
            let ip = Ipv6Addr::from(v6.sin6_addr.s6_addr);
            Some(SocketAddrV6::new(ip, u16::from_be(v6.sin6_port), v6.sin6_flowinfo, v6.sin6_scope_id).into())
        }
        // Nothing: how a receive ends after a shutdown.
        _ => None,
    }
}

/// Turns the result of a system call into a count of at most [`BATCH`].
fn count(result: libc::c_int) -> io::Result<usize> {
    usize::try_from(result)
        .map(|n| n.min(BATCH))
        .map_err(|_| io::Error::last_os_error())
}

/// Turns the packet information of a query into that of its reply: the same local address, but no interface, so that
/// routing decides the way back. Link-local addresses mean nothing without their interface and keep it.
fn leave_route_open(message: &mut libc::msghdr) {
    // SAFETY: `msg_control` points to `msg_controllen` octets of a control buffer that the kernel has written; the
    // function returns null or the first header that lies whole inside of them.
    let header = unsafe { libc::CMSG_FIRSTHDR(message) };
    // SAFETY: null or valid, see above.
    let Some((level, kind, length)) =
        (unsafe { header.as_ref() }).map(|h| (h.cmsg_level, h.cmsg_type, h.cmsg_len))
    else {
        return;
    };
    // SAFETY: the data follows the header inside the buffer.
    let data = unsafe { libc::CMSG_DATA(header) };
    // SAFETY: plain arithmetic.
    let (v4, v6) = unsafe {
        (
            libc::CMSG_LEN(size_of::<libc::in_pktinfo>() as libc::c_uint) as usize,
            libc::CMSG_LEN(size_of::<libc::in6_pktinfo>() as libc::c_uint) as usize,
        )
    };
    if level == libc::IPPROTO_IP && kind == libc::IP_PKTINFO && length >= v4 && message.msg_controllen >= v4 {
        let data = data.cast::<libc::in_pktinfo>();
        // SAFETY: the lengths checked above say that a whole `in_pktinfo` lies there.
        unsafe {
            let mut info = data.read_unaligned();
            info.ipi_ifindex = 0;
            data.write_unaligned(info);
        }
    } else if level == libc::IPPROTO_IPV6
        && kind == libc::IPV6_PKTINFO
        && length >= v6
        && message.msg_controllen >= v6
    {
        let data = data.cast::<libc::in6_pktinfo>();
        // SAFETY: as above, a whole `in6_pktinfo`.
        unsafe {
            let mut info = data.read_unaligned();
            if !matches!(info.ipi6_addr.s6_addr, [0xfe, 0x80..=0xbf, ..]) {
                info.ipi6_ifindex = 0;
            }
            data.write_unaligned(info);
        }
    } else {
        message.msg_controllen = 0;
    }
}

#[cfg(test)]
mod tests;
