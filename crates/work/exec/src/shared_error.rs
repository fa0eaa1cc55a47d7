//! An error that a value can keep which is cloned and compared.

use std::error::Error;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// An error kept in a value that is cloned and compared, which [`std::io::Error`] and all that
/// has it as its source are not. Two are equal if they say the same.
#[derive(Debug)]
pub struct SharedError<E>(Arc<E>);

impl<E> From<E> for SharedError<E> {
    fn from(error: E) -> Self {
        Self(Arc::new(error))
    }
}

impl<E> Clone for SharedError<E> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<E> Deref for SharedError<E> {
    type Target = E;

    fn deref(&self) -> &E {
        &self.0
    }
}

impl<E: fmt::Display> PartialEq for SharedError<E> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.to_string() == other.0.to_string()
    }
}

impl<E: fmt::Display> Eq for SharedError<E> {}

impl<E: fmt::Display> fmt::Display for SharedError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<E: Error> Error for SharedError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn errors_with_the_same_text_are_equal() {
        let error = |errno| SharedError::from(io::Error::from_raw_os_error(errno));
        assert_eq!(error(5), error(5));
        assert_ne!(error(5), error(13));
        assert_eq!(error(13).clone().to_string(), io::Error::from_raw_os_error(13).to_string());
        assert_eq!(error(13).raw_os_error(), Some(13));
    }
}
