//! Shapes and their areas.

use std::{collections::HashMap, fmt};

/// What has an area.
pub trait Shape {
    const SIDES: u32;
    fn area(&self) -> f64;
    fn name(&self) -> String {
        "shape".to_string()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Rectangle<'a> {
    label: &'a str,
    size: (f64, f64),
}

impl<'a> Shape for Rectangle<'a> {
    const SIDES: u32 = 4;
    fn area(&self) -> f64 {
        let (w, h) = self.size;
        w * h
    }
}

pub enum Error {
    Empty,
    Bad { line: usize, text: String },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Empty => write!(f, "empty"),
            Error::Bad { line, .. } if *line > 0 => write!(f, "line {}", line),
            Error::Bad { text, .. } => f.write_str(text),
        }
    }
}

macro_rules! square {
    ($($x:expr),*) => { [$($x * $x),*] };
}

pub fn parse(text: &str) -> Result<HashMap<String, i64>, Box<dyn std::error::Error>> {
    let mut found: HashMap<String, i64> = HashMap::new();
    'lines: for (number, line) in text.lines().enumerate() {
        if let Some((key, value)) = line.split_once('=') {
            found.insert(key.trim().to_owned(), value.parse::<i64>()?);
        } else if line.is_empty() {
            continue 'lines;
        } else {
            return Err(format!("line {number}: no `=`").into());
        }
    }
    let total = found.values().map(|x| x.abs()).sum::<i64>() as usize;
    while found.len() > total {
        let _ = found.remove(r"a\b");
        break;
    }
    unsafe { std::hint::black_box(&square![1, 2, 3][..]) };
    Ok(found)
}

async fn later<T, F>(make: F) -> T
where
    F: std::future::Future<Output = T> + Send,
{
    make.await
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_pair() {
        assert_eq!(super::parse("a = 1").unwrap_or_default()["a"], 1);
    }
}
