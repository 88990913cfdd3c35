//! The data of a page: asked for on the server, sent along with the page, asked for again when the arguments change.

use super::{Call, Function, Text, call, decode, encode};
use crate::failure::Failure;
use leptos::prelude::*;
use std::marker::PhantomData;

/// What a server function answers, as a resource.
pub struct Data<T> {
    pub(crate) text: Resource<Text>,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Data<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Data<T> {}

impl<T: serde::de::DeserializeOwned> Data<T> {
    /// Waits for the value.
    ///
    /// # Errors
    /// What the server function refused.
    pub async fn value(self) -> Result<T, Failure> {
        decode(&self.text.await?)
    }
}

/// The answer of `S` to these arguments.
pub fn use_data<S: Function>(arguments: impl Fn() -> S + Send + Sync + 'static) -> Data<S::Value> {
    data::<S>(Box::new(move || encode(&arguments())))
}

/// As [`use_data`]; asked for again when `mark` changes, too.
pub fn use_data_again<S: Function>(
    arguments: impl Fn() -> S + Send + Sync + 'static,
    mark: impl Fn() -> String + Send + Sync + 'static,
) -> Data<S::Value> {
    // JSON text has its line ends escaped: the first one is ours.
    data::<S>(Box::new(move || format!("{}\n{}", encode(&arguments()), mark())))
}

fn data<S: Function>(key: Box<dyn Fn() -> String + Send + Sync>) -> Data<S::Value> {
    Data {
        text: resource(key, call::<S>),
        of: PhantomData,
    }
}

fn resource(key: Box<dyn Fn() -> String + Send + Sync>, call: fn(String) -> Call) -> Resource<Text> {
    Resource::new(key, move |key: String| {
        let arguments = key.split_once('\n').map_or(key.as_str(), |(json, _)| json);
        call(arguments.to_owned())
    })
}
