//! Reads files for `partita model`, with errors that name them.

use partita_design::{Model, Source, read, report};
use partita_exchange::compression::Compression;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// A file's text without a byte order mark; `-` is standard input.
pub fn text(path: &Path) -> Result<String, String> {
    let text = whole(path)?;
    Ok(text.strip_prefix(BYTE_ORDER_MARK).map(str::to_owned).unwrap_or(text))
}

/// Replaces a file's text, and keeps its byte order mark.
pub fn replace(path: &Path, text: &str) -> Result<(), String> {
    let mark = if whole(path)?.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK } else { "" };
    std::fs::write(path, format!("{mark}{text}"))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}

fn whole(path: &Path) -> Result<String, String> {
    if path.as_os_str() == "-" {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .map_err(|error| format!("cannot read standard input: {error}"))?;
        return Ok(text);
    }
    std::fs::read_to_string(path).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => format!("cannot read {}: save it as UTF-8", path.display()),
        _ => format!("cannot read {}: {error}", path.display()),
    })
}

/// Reads a file piece by piece, also one that gzip or zstd compressed; `-` is standard input.
pub fn reader(path: &Path) -> Result<Box<dyn BufRead>, String> {
    let failed = |error: std::io::Error| format!("cannot read {}: {error}", path.display());
    if path.as_os_str() == "-" {
        return decompressed(BufReader::new(std::io::stdin())).map_err(failed);
    }
    decompressed(BufReader::new(std::fs::File::open(path).map_err(failed)?)).map_err(failed)
}

/// What a compressed file contains, as its first bytes tell; any other file as it is.
fn decompressed(mut file: impl BufRead + Send + 'static) -> std::io::Result<Box<dyn BufRead>> {
    let compression = Compression::from_start(file.fill_buf()?);
    Ok(Box::new(BufReader::new(compression.reader(file)?)))
}

pub fn source(path: &Path) -> Result<Source, String> {
    Ok(Source::new(path.display().to_string(), text(path)?))
}

/// Reads a model; its mistakes are returned as text.
pub fn model(path: &Path) -> Result<Model, String> {
    let source = source(path)?;
    read(&source).map_err(|findings| {
        format!("{} is not a model\n\n{}", source.name, report::text_of(&findings, &source))
    })
}

/// Prices from a file, or the built-in ones.
pub fn prices(path: Option<&Path>) -> Result<partita_design::capacity::prices::Prices, String> {
    let text = path.map_or_else(|| Ok(partita_design::capacity::prices::DEFAULT_PRICES.to_owned()), text)?;
    partita_design::capacity::prices::Prices::parse(&text)
}
