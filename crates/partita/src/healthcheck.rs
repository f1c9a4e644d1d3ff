//! `partita healthcheck`: asks for the health line.

use crate::arguments::Healthcheck;
use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(5);

pub fn run(check: &Healthcheck) -> Result<(), Box<dyn Error>> {
    let place = format!("{}:{}", check.host, check.port);
    let answer = ask(&place).map_err(|error| format!("no database answers at {place}: {error}"))?;
    match answer.split_once("\r\n\r\n") {
        Some((head, line)) if head.starts_with("HTTP/1.1 200") && line.starts_with("healthy: ") => {
            println!("{}", line.trim_end());
            Ok(())
        }
        _ => Err(format!("what answers at {place} is not a healthy database").into()),
    }
}

fn ask(place: &str) -> std::io::Result<String> {
    let address = place.to_socket_addrs()?.next().ok_or(std::io::ErrorKind::AddrNotAvailable)?;
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    write!(stream, "GET / HTTP/1.1\r\nHost: {place}\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.take(64 * 1024).read_to_string(&mut answer)?;
    Ok(answer)
}
