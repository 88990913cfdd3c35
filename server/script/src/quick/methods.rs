//! What methods make of upper bounds, and what they cost.

use super::value::{Site, Value};
use super::{Check, Checked, NotProven};

impl<'a> Check<'a> {
    /// Calls the method of whatever `object` may be. `literal` is the text of the first argument, if it is written out.
    pub(super) fn method(
        &mut self,
        object: &Value<'a>,
        name: &str,
        literal: Option<&'a str>,
        arguments: &[Value<'a>],
        named: &[(&'a str, Value<'a>)],
    ) -> Checked<Value<'a>> {
        self.spend(2.0)?;
        if !named.is_empty() {
            return Err(NotProven);
        }
        let mut result = Value::default();
        if let Some(length) = object.text {
            result.join(&self.text_method(length, name, arguments)?);
        }
        if !object.lists.is_empty() {
            result.join(&self.list_method(object, name, arguments)?);
        }
        if !object.maps.is_empty() {
            result.join(&self.map_method(object, name, literal, arguments)?);
        }
        if object.tuple.is_some() || !object.callables.is_empty() {
            return Err(NotProven);
        }
        Ok(result)
    }

    fn text_method(&mut self, length: f64, name: &str, arguments: &[Value<'a>]) -> Checked<Value<'a>> {
        let site = self.site;
        let argument = |index: usize| arguments.get(index).and_then(|value| value.text).unwrap_or(0.0);
        // Searching for a text compares it at each place at worst.
        self.spend(length / 16.0 + length * argument(0) / 512.0)?;
        match name {
            "startswith" | "endswith" | "isalnum" | "isalpha" | "isdigit" | "islower" | "isspace"
            | "istitle" | "isupper" => Ok(Value::other()),
            "find" | "rfind" | "index" | "rindex" | "count" => Ok(Value::int(length)),
            "strip" | "lstrip" | "rstrip" | "removeprefix" | "removesuffix" => Ok(Value::text(length)),
            // Some letters have longer relatives of the other case.
            "lower" | "upper" | "capitalize" | "title" => Ok(Value::text(3.0 * length)),
            "split" | "rsplit" => {
                // The most pieces that may be asked for are no bound: a negative number asks for all.
                let pieces = length + 1.0;
                self.spend(pieces / 4.0)?;
                Ok(self.lists.create(site, pieces, &Value::text(length)))
            }
            "splitlines" => {
                self.spend((length + 1.0) / 4.0)?;
                Ok(self.lists.create(site, length + 1.0, &Value::text(length)))
            }
            "partition" | "rpartition" => Ok(Value::tuple(vec![Value::text(length); 3])),
            "replace" => {
                let most = length + (length + 1.0) * argument(1);
                self.spend(most / 16.0)?;
                Ok(Value::text(most))
            }
            "join" => {
                let (items, item) = arguments
                    .first()
                    .map_or(Ok((0.0, Value::default())), |list| self.iterated(list))?;
                let most = items * (length + item.text.unwrap_or(0.0));
                self.spend(items + most / 16.0)?;
                Ok(Value::text(most))
            }
            "format" => {
                let mut longest = 0.0_f64;
                for argument in arguments {
                    longest = longest.max(self.text_length(argument)?);
                }
                // Each argument takes two letters at least.
                let most = length + length / 2.0 * longest;
                self.spend(most / 16.0)?;
                Ok(Value::text(most))
            }
            _ => Err(NotProven),
        }
    }

    fn list_method(&mut self, object: &Value<'a>, name: &str, arguments: &[Value<'a>]) -> Checked<Value<'a>> {
        let none = Value::default();
        let first = arguments.first().unwrap_or(&none);
        let (length, item) = self.lists.items(object);
        match name {
            "append" => {
                self.lists.add(object, 1.0, first);
                self.lists.check(object)?;
                Ok(Value::other())
            }
            "extend" => {
                let (more, item) = self.iterated(first)?;
                self.spend(more)?;
                self.lists.add(object, more, &item);
                self.lists.check(object)?;
                Ok(Value::other())
            }
            "insert" => {
                self.spend(length / 8.0)?;
                self.lists.add(object, 1.0, arguments.get(1).unwrap_or(&none));
                self.lists.check(object)?;
                Ok(Value::other())
            }
            "pop" => {
                self.spend(length / 8.0)?;
                Ok(item)
            }
            "index" | "remove" => {
                let steps = length * self.bulk(&item)?;
                self.spend(steps)?;
                Ok(Value::int(length))
            }
            "clear" => Ok(Value::other()),
            _ => Err(NotProven),
        }
    }

    fn map_method(
        &mut self,
        object: &Value<'a>,
        name: &str,
        literal: Option<&'a str>,
        arguments: &[Value<'a>],
    ) -> Checked<Value<'a>> {
        let site = self.site;
        let none = Value::default();
        let first = arguments.first().unwrap_or(&none);
        let (length, key) = self.maps.keys(object);
        let made = Site {
            part: site.part + 3,
            ..site
        };
        match name {
            "get" | "pop" | "setdefault" => {
                let steps = self.bulk(first)?;
                self.spend(steps + if name == "pop" { length / 4.0 } else { 0.0 })?;
                let default = arguments.get(1).cloned().unwrap_or_else(Value::other);
                if name == "setdefault" {
                    self.maps.put(object, literal, first, &default);
                }
                let mut found = self.maps.get(object, literal);
                found.join(&default);
                Ok(found)
            }
            "keys" => {
                self.spend(length / 4.0)?;
                Ok(self.lists.create(made, length, &key))
            }
            "values" => {
                self.spend(length / 4.0)?;
                let any = self.maps.get(object, None);
                Ok(self.lists.create(made, length, &any))
            }
            "items" => {
                self.spend(length)?;
                let any = self.maps.get(object, None);
                Ok(self.lists.create(made, length, &Value::tuple(vec![key, any])))
            }
            "clear" => Ok(Value::other()),
            _ => Err(NotProven),
        }
    }
}
