//! The user of a process on this machine that connects to the proxy: a secret in the arguments of a client is in the list of processes,
//! which other users can read.

use std::net::SocketAddr;

/// Returns false if the client of a connection on this machine is known to be a process of another user. The administrator counts as this
/// user: programs that pass connections on run as that one.
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "a table of the kernel, which no disk has")]
pub fn is_of_user(client: SocketAddr, own: SocketAddr) -> bool {
    let table = if client.is_ipv6() { "/proc/net/tcp6" } else { "/proc/net/tcp" };
    let user = std::fs::read_to_string(table).ok().and_then(|table| owner(&table, client, own));
    user.is_none_or(|user| user == 0 || user == rustix::process::geteuid().as_raw())
}

/// Returns true: other platforms do not tell.
#[cfg(not(target_os = "linux"))]
pub fn is_of_user(_: SocketAddr, _: SocketAddr) -> bool {
    true
}

/// Returns the user of a connection by the kernel's table: the fields after the number of a line are both addresses in hexadecimal, the
/// state, two queues, the timer, the retransmissions, and the user.
#[cfg(target_os = "linux")]
fn owner(table: &str, client: SocketAddr, own: SocketAddr) -> Option<u32> {
    let (client, own) = (hexadecimal(client), hexadecimal(own));
    table.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let is_it = fields.next()? == client && fields.next()? == own;
        is_it.then(|| fields.nth(4)?.parse().ok()).flatten()
    })
}

/// Returns an address as the kernel writes it: each word of the address in the order of this machine.
#[cfg(target_os = "linux")]
fn hexadecimal(address: SocketAddr) -> String {
    use std::net::IpAddr;
    let bytes = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let words: String = bytes.as_chunks().0.iter().map(|word| format!("{:08X}", u32::from_ne_bytes(*word))).collect();
    format!("{words}:{:04X}", address.port())
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "a connection and its entry in the table of the system")]
mod tests {
    use super::*;

    #[test]
    fn the_user_of_a_connection_is_in_the_table_of_the_kernel() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (client, own) = (client.local_addr().unwrap(), listener.local_addr().unwrap());
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        assert_eq!(owner(&table, client, own), Some(rustix::process::geteuid().as_raw()));
        assert!(is_of_user(client, own));
        let line = "   3: 0100007F:1F90 0100007F:0050 01 00000000:00000000 00:00000000 00000000  1234        0 5 1 x\n";
        let address = |port| SocketAddr::from(([127, 0, 0, 1], port));
        assert_eq!(owner(line, address(8080), address(80)), Some(1234));
        assert_eq!(owner(line, address(80), address(8080)), None);
        assert_eq!(hexadecimal("[::1]:80".parse().unwrap()), "00000000000000000000000001000000:0050");
    }
}
