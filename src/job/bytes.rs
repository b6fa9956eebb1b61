//! Bytes that are a text wherever people read them: in JSON, if they are UTF-8.

use std::fmt;

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes bytes: in JSON as a text, or as numbers if they are not UTF-8.
pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    match std::str::from_utf8(bytes) {
        Ok(text) if to.is_human_readable() => to.serialize_str(text),
        Err(_) if to.is_human_readable() => bytes.serialize(to),
        Ok(_) | Err(_) => serde_bytes::serialize(bytes, to),
    }
}

/// Reads what [`serialize`] wrote.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    if from.is_human_readable() {
        from.deserialize_any(Bytes)
    } else {
        serde_bytes::deserialize(from)
    }
}

struct Bytes;

impl<'de> Visitor<'de> for Bytes {
    type Value = Vec<u8>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a list of bytes")
    }

    fn visit_str<E>(self, text: &str) -> Result<Vec<u8>, E> {
        Ok(text.as_bytes().to_vec())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<u8>, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = list.next_element()? {
            bytes.push(byte);
        }
        Ok(bytes)
    }
}

/// A list of such bytes.
pub(super) mod words {
    use super::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct Word(#[serde(with = "super")] Vec<u8>);

    pub(in super::super) fn serialize<S: Serializer>(
        words: &[Vec<u8>],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.collect_seq(words.iter().map(|word| Word(word.clone())))
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<Vec<u8>>, D::Error> {
        Ok(Vec::<Word>::deserialize(from)?.into_iter().map(|word| word.0).collect())
    }
}

#[cfg(test)]
mod tests {
    use crate::job::Command;

    #[test]
    fn bytes_come_back_as_they_were_and_text_can_be_read() {
        let words = vec![b"echo".to_vec(), "ä\0\u{1b}".into(), vec![0xff, 0x00]];
        for (command, json) in [
            (Command::Shell(b"a 'b'".to_vec()), r#"{"Shell":"a 'b'"}"#),
            (Command::Argv(words), r#"{"Argv":["echo","ä\u0000\u001b",[255,0]]}"#),
        ] {
            assert_eq!(serde_json::to_string(&command).expect("JSON"), json);
            assert_eq!(serde_json::from_str::<Command>(json).expect("read"), command);
            let wire = postcard::to_stdvec(&command).expect("bytes");
            assert_eq!(postcard::from_bytes::<Command>(&wire).expect("read"), command);
        }
    }
}
