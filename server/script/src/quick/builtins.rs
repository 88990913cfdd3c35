//! What the builtins of the language make of upper bounds, and what they cost.

use super::value::{Number, Site, Value};
use super::{Check, Checked, NotProven};

/// Longest range: one that is not walked costs nothing, but what is made of it would.
const MAX_RANGE: f64 = 4096.0;
/// Longest text of a float.
const FLOAT_TEXT: f64 = 32.0;

impl<'a> Check<'a> {
    pub(super) fn builtin(
        &mut self,
        name: &str,
        arguments: &[Value<'a>],
        named: &[(&'a str, Value<'a>)],
    ) -> Checked<Value<'a>> {
        self.spend(2.0)?;
        let site = self.site;
        let none = Value::default();
        let first = arguments.first().unwrap_or(&none);
        let option = |wanted: &str| {
            named
                .iter()
                .find(|(name, _)| *name == wanted)
                .map(|(_, value)| value)
        };
        match name {
            "len" => {
                let length = self.iterated(first)?.0.max(first.text.unwrap_or(0.0));
                Ok(Value::int(length))
            }
            "bool" => Ok(Value::other()),
            "type" => Ok(Value::text(32.0)),
            "str" => {
                let length = self.text_length(first)?;
                self.spend(length / 16.0)?;
                Ok(Value::text(length))
            }
            "int" => {
                let digits = first.text.unwrap_or(0.0);
                // Reading digits takes the square of their number.
                self.spend(digits * digits / 4096.0 + digits / 16.0)?;
                let number = first.number.unwrap_or(Number::int(1.0));
                let float = if number.float { 1e300 } else { 0.0 };
                // In the widest base a digit counts for 36.
                let text = if arguments.len() > 1 {
                    36_f64.powf(digits)
                } else {
                    10_f64.powf(digits)
                };
                Ok(Value::int(number.int.max(float).max(text)))
            }
            "float" => {
                self.spend(first.text.unwrap_or(0.0) / 16.0)?;
                Ok(Value::number(Number::FLOAT))
            }
            "abs" => Ok(Value {
                number: first.number,
                ..Value::default()
            }),
            "hash" => {
                self.spend(first.text.unwrap_or(0.0) / 16.0)?;
                Ok(Value::int(f64::from(u32::MAX)))
            }
            "ord" => Ok(Value::int(f64::from(u32::from(char::MAX)))),
            "chr" => Ok(Value::text(4.0)),
            "any" | "all" => {
                let length = self.iterated(first)?.0;
                self.spend(length)?;
                Ok(Value::other())
            }
            "min" | "max" => {
                let (length, item) = if arguments.len() == 1 {
                    self.iterated(first)?
                } else {
                    let mut any = Value::default();
                    arguments.iter().for_each(|one| any.join(one));
                    (arguments.len() as f64, any)
                };
                self.ordered(length, &item, option("key"), 1.0)?;
                Ok(item)
            }
            "sorted" => {
                let (length, item) = self.iterated(first)?;
                self.ordered(length, &item, option("key"), length.max(2.0).log2().ceil())?;
                Ok(self.lists.create(site, length, &item))
            }
            "reversed" | "list" | "tuple" => {
                let (length, item) = self.iterated(first)?;
                self.spend(length / 4.0)?;
                Ok(self.lists.create(site, length, &item))
            }
            "enumerate" => {
                let (length, item) = self.iterated(first)?;
                self.spend(length)?;
                let start = arguments
                    .get(1)
                    .or(option("start"))
                    .and_then(|start| start.number);
                let index = Value::int(length + start.map_or(0.0, |start| start.int));
                Ok(self.lists.create(site, length, &Value::tuple(vec![index, item])))
            }
            "zip" => {
                let (mut length, mut items) = (0.0_f64, Vec::new());
                for argument in arguments {
                    let (more, item) = self.iterated(argument)?;
                    length = length.max(more);
                    items.push(item);
                }
                self.spend(length * (1.0 + items.len() as f64))?;
                Ok(self.lists.create(site, length, &Value::tuple(items)))
            }
            "range" => {
                // Steps are at least one.
                let most = arguments
                    .iter()
                    .filter_map(|one| one.number)
                    .map(|number| number.int)
                    .sum::<f64>();
                if most > MAX_RANGE {
                    return Err(NotProven);
                }
                Ok(self.lists.create(site, most, &Value::int(most)))
            }
            "dict" if arguments.is_empty() && named.is_empty() => {
                let part = site.part + 2;
                Ok(self.maps.create(Site { part, ..site }))
            }
            "fail" | "print" => {
                for argument in arguments {
                    let steps = self.bulk(argument)?;
                    self.spend(4.0 * steps)?;
                }
                Ok(Value::other())
            }
            _ => Err(NotProven),
        }
    }

    /// Longest text that `str` makes of a value.
    pub(super) fn text_length(&self, value: &Value<'a>) -> Checked<f64> {
        if value.is_container() || !value.callables.is_empty() {
            return Err(NotProven);
        }
        let number = value.number.map_or(0.0, |number| {
            let digits = number.int.max(1.0).log10().ceil() + 2.0;
            if number.float {
                digits.max(FLOAT_TEXT)
            } else {
                digits
            }
        });
        Ok(number
            .max(value.text.unwrap_or(0.0))
            .max(if value.other { 8.0 } else { 0.0 }))
    }

    /// The cost of comparing each item so often, by a key if there is one.
    fn ordered(
        &mut self,
        length: f64,
        item: &Value<'a>,
        key: Option<&Value<'a>>,
        rounds: f64,
    ) -> Checked<()> {
        let mut compared = item.clone();
        if let Some(key) = key {
            compared = Value::default();
            let item = [item.clone()];
            self.repeat(length, |check| {
                compared.join(&check.call_value(key, &item, &[])?);
                Ok(())
            })?;
        }
        let steps = self.bulk(&compared)?;
        self.spend(length * rounds * steps)
    }
}
