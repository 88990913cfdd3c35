//! Expressions on upper bounds.

use super::value::{Number, Site, Value};
use super::{Body, Check, Checked, NotProven};
use starlark_syntax::lexer::TokenInt;
use starlark_syntax::syntax::ast::{Argument, AstExpr, AstLiteral, BinOp, Clause, Expr, ForClause};

/// Containers inside one another that comparing and counting look into.
const MAX_NESTING: usize = 4;

/// The text of an expression that is a literal text.
pub(super) fn literal_text(expr: &AstExpr) -> Option<&str> {
    match &expr.node {
        Expr::Literal(AstLiteral::String(text)) => Some(&text.node),
        _ => None,
    }
}

/// Where an expression makes something.
pub(super) fn site(expr: &AstExpr, part: u8) -> Site {
    Site {
        address: std::ptr::from_ref(expr).addr(),
        part,
    }
}

impl<'a> Check<'a> {
    pub(super) fn expr(&mut self, expr: &'a AstExpr) -> Checked<Value<'a>> {
        self.spend(1.0)?;
        let value = self.deeper(|check| check.expr_inside(expr))?;
        value.check()?;
        self.lists.check(&value)?;
        Ok(value)
    }

    fn expr_inside(&mut self, expr: &'a AstExpr) -> Checked<Value<'a>> {
        match &expr.node {
            Expr::Literal(literal) => literal_value(literal),
            Expr::Identifier(name) => Ok(self.name(&name.node.ident)),
            Expr::Tuple(parts) => Ok(Value::tuple(self.exprs(parts)?)),
            Expr::List(items) => {
                let items = self.exprs(items)?;
                let mut item = Value::default();
                items.iter().for_each(|one| item.join(one));
                Ok(self.lists.create(site(expr, 0), items.len() as f64, &item))
            }
            Expr::Dict(entries) => {
                let map = self.maps.create(site(expr, 0));
                for (key, value) in entries {
                    self.entry(&map, key, value)?;
                }
                Ok(map)
            }
            Expr::ListComprehension(item, first, clauses) => {
                let (mut length, mut any) = (0.0, Value::default());
                self.comprehension(first, clauses, &mut |check| {
                    any.join(&check.expr(item)?);
                    length += 1.0;
                    Ok(())
                })?;
                Ok(self.lists.create(site(expr, 0), length, &any))
            }
            Expr::DictComprehension(entry, first, clauses) => {
                let map = self.maps.create(site(expr, 0));
                self.comprehension(first, clauses, &mut |check| check.entry(&map, &entry.0, &entry.1))?;
                Ok(map)
            }
            Expr::Lambda(lambda) => self.function(&lambda.params, Body::Expression(&lambda.body)),
            Expr::If(three) => {
                self.expr(&three.0)?;
                let mut value = self.expr(&three.1)?;
                value.join(&self.expr(&three.2)?);
                Ok(value)
            }
            Expr::Not(inner) => self.expr(inner).map(|_| Value::other()),
            Expr::Minus(inner) | Expr::Plus(inner) | Expr::BitNot(inner) => {
                let number = self.expr(inner)?.number;
                Ok(Value {
                    number: number.map(|n| Number {
                        int: n.int + 1.0,
                        ..n
                    }),
                    ..Value::default()
                })
            }
            Expr::Op(left, op, right) => {
                let left = self.expr(left)?;
                let right = self.expr(right)?;
                self.site = site(expr, 0);
                self.binary(&left, *op, &right)
            }
            Expr::Index(both) => {
                let object = self.expr(&both.0)?;
                let index = self.expr(&both.1)?;
                self.item(&object, &both.1, &index)
            }
            Expr::Slice(object, from, to, step) => {
                let object = self.expr(object)?;
                for bound in [from, to, step].into_iter().flatten() {
                    self.expr(bound)?;
                }
                self.site = site(expr, 0);
                self.slice(&object)
            }
            Expr::Call(callee, arguments) => {
                let (mut plain, mut named) = (Vec::new(), Vec::new());
                // A method is looked up before its arguments are evaluated, which makes no difference to bounds.
                for argument in &arguments.args {
                    match &argument.node {
                        Argument::Positional(expr) => plain.push(self.expr(expr)?),
                        Argument::Named(name, expr) => named.push((name.node.as_str(), self.expr(expr)?)),
                        Argument::Args(_) | Argument::KwArgs(_) => return Err(NotProven),
                    }
                }
                if let Expr::Dot(object, name) = &callee.node {
                    let object = self.expr(object)?;
                    self.site = site(expr, 0);
                    let literal = arguments
                        .args
                        .first()
                        .and_then(|first| literal_text(first.node.expr()));
                    return self.method(&object, &name.node, literal, &plain, &named);
                }
                let callee = self.expr(callee)?;
                self.site = site(expr, 0);
                self.call_value(&callee, &plain, &named)
            }
            Expr::Dot(..) | Expr::Index2(_) | Expr::FString(_) => Err(NotProven),
        }
    }

    fn exprs(&mut self, exprs: &'a [AstExpr]) -> Checked<Vec<Value<'a>>> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }

    fn entry(&mut self, map: &Value<'a>, key: &'a AstExpr, value: &'a AstExpr) -> Checked<()> {
        let literal = literal_text(key);
        let key = self.expr(key)?;
        let value = self.expr(value)?;
        let steps = self.bulk(&key)?;
        self.spend(steps)?;
        self.maps.put(map, literal, &key, &value);
        Ok(())
    }

    fn comprehension(
        &mut self,
        first: &'a ForClause,
        clauses: &'a [Clause],
        innermost: &mut dyn FnMut(&mut Self) -> Checked<()>,
    ) -> Checked<()> {
        let over = self.expr(&first.over)?;
        let outer = self.scope;
        self.open_scope(outer);
        let result = self.turns(first, &over, clauses, innermost);
        self.scope = outer;
        result
    }

    fn turns(
        &mut self,
        each: &'a ForClause,
        over: &Value<'a>,
        clauses: &'a [Clause],
        innermost: &mut dyn FnMut(&mut Self) -> Checked<()>,
    ) -> Checked<()> {
        let (turns, item) = self.iterated(over)?;
        self.repeat(turns, |check| {
            check.assign(&each.var, &item)?;
            check.clauses(clauses, innermost)
        })
    }

    fn clauses(
        &mut self,
        clauses: &'a [Clause],
        innermost: &mut dyn FnMut(&mut Self) -> Checked<()>,
    ) -> Checked<()> {
        match clauses.split_first() {
            None => innermost(self),
            Some((Clause::If(condition), rest)) => {
                self.expr(condition)?;
                self.deeper(|check| check.clauses(rest, innermost))
            }
            Some((Clause::For(each), rest)) => {
                let over = self.expr(&each.over)?;
                self.deeper(|check| check.turns(each, &over, rest, innermost))
            }
        }
    }

    /// How often a loop over it turns at most, and over what.
    pub(super) fn iterated(&self, value: &Value<'a>) -> Checked<(f64, Value<'a>)> {
        let (mut length, mut item) = self.lists.items(value);
        let (entries, key) = self.maps.keys(value);
        length = length.max(entries);
        item.join(&key);
        if let Some(parts) = &value.tuple {
            length = length.max(parts.len() as f64);
            parts.iter().for_each(|part| item.join(part));
        }
        if length.is_nan() {
            Err(NotProven)
        } else {
            Ok((length, item))
        }
    }

    /// Steps that it takes to compare, hash or print a value.
    pub(super) fn bulk(&self, value: &Value<'a>) -> Checked<f64> {
        self.bulk_inside(value, 0)
    }

    fn bulk_inside(&self, value: &Value<'a>, depth: usize) -> Checked<f64> {
        if depth > MAX_NESTING {
            return Err(NotProven);
        }
        let mut steps = 1.0 + value.text.unwrap_or(0.0) / 64.0;
        if let Some(number) = value.number {
            steps += number.int.max(1.0).log10() / 16.0;
        }
        if value.is_container() {
            let (length, item) = self.iterated(value)?;
            steps += length * self.bulk_inside(&item, depth + 1)?;
            if !value.maps.is_empty() {
                steps += length * self.bulk_inside(&self.maps.get(value, None), depth + 1)?;
            }
        }
        Ok(steps)
    }

    pub(super) fn item(
        &mut self,
        object: &Value<'a>,
        key: &'a AstExpr,
        index: &Value<'a>,
    ) -> Checked<Value<'a>> {
        let mut found = self.lists.items(object).1;
        if let Some(parts) = &object.tuple {
            parts.iter().for_each(|part| found.join(part));
        }
        if object.text.is_some() {
            found.join(&Value::text(4.0));
        }
        if !object.maps.is_empty() {
            let steps = self.bulk(index)?;
            self.spend(steps)?;
            found.join(&self.maps.get(object, literal_text(key)));
        }
        Ok(found)
    }

    pub(super) fn slice(&mut self, object: &Value<'a>) -> Checked<Value<'a>> {
        let mut value = Value {
            text: object.text,
            tuple: object.tuple.clone(),
            ..Value::default()
        };
        if let Some(parts) = &mut value.tuple {
            // Any part may move to any place.
            let mut any = Value::default();
            parts.iter().for_each(|part| any.join(part));
            parts.iter_mut().for_each(|part| *part = any.clone());
        }
        if !object.lists.is_empty() {
            let (length, item) = self.lists.items(object);
            self.spend(length / 8.0)?;
            value.join(&self.lists.create(self.site, length, &item));
        }
        self.spend(object.text.unwrap_or(0.0) / 32.0)?;
        Ok(value)
    }

    pub(super) fn binary(&mut self, left: &Value<'a>, op: BinOp, right: &Value<'a>) -> Checked<Value<'a>> {
        match op {
            BinOp::And | BinOp::Or => {
                let mut value = left.clone();
                value.join(right);
                Ok(value)
            }
            BinOp::Equal
            | BinOp::NotEqual
            | BinOp::Less
            | BinOp::Greater
            | BinOp::LessOrEqual
            | BinOp::GreaterOrEqual => {
                let steps = self.bulk(left)?.min(self.bulk(right)?);
                self.spend(steps)?;
                Ok(Value::other())
            }
            BinOp::In | BinOp::NotIn => {
                let steps = self.bulk(left)? + self.bulk(right)?;
                self.spend(steps)?;
                Ok(Value::other())
            }
            BinOp::Add => self.sum(left, right),
            BinOp::Multiply if left.text.is_some() || right.text.is_some() => Err(NotProven),
            BinOp::Multiply if left.is_container() || right.is_container() => Err(NotProven),
            // Formats a text.
            BinOp::Percent if left.text.is_some() => Err(NotProven),
            BinOp::LeftShift | BinOp::RightShift => Err(NotProven),
            BinOp::BitOr if !left.maps.is_empty() => Err(NotProven),
            _ => Ok(Value {
                number: arithmetic(left.number, op, right.number),
                ..Value::default()
            }),
        }
    }

    fn sum(&mut self, left: &Value<'a>, right: &Value<'a>) -> Checked<Value<'a>> {
        let mut value = Value {
            number: arithmetic(left.number, BinOp::Add, right.number),
            ..Value::default()
        };
        if let (Some(a), Some(b)) = (left.text, right.text) {
            self.spend((a + b) / 32.0)?;
            value.text = Some(a + b);
        }
        if let (Some(a), Some(b)) = (&left.tuple, &right.tuple) {
            // The shorter form of the left one moves the parts of the right one: any part at any place.
            let mut any = Value::default();
            a.iter().chain(b).for_each(|part| any.join(part));
            value.tuple = Some(vec![any; a.len() + b.len()]);
        }
        if !left.lists.is_empty() && !right.lists.is_empty() {
            let (a, mut item) = self.lists.items(left);
            let (b, others) = self.lists.items(right);
            item.join(&others);
            self.spend((a + b) / 8.0)?;
            value.join(&self.lists.create(self.site, a + b, &item));
        }
        Ok(value)
    }
}

fn literal_value<'a>(literal: &AstLiteral) -> Checked<Value<'a>> {
    match literal {
        AstLiteral::Int(int) => match &int.node {
            TokenInt::I32(value) => Ok(Value::int(f64::from(*value).abs())),
            TokenInt::BigInt(_) => Err(NotProven),
        },
        AstLiteral::Float(_) => Ok(Value::number(Number::FLOAT)),
        AstLiteral::String(text) => Ok(Value::text(text.node.len() as f64)),
        AstLiteral::Bytes(_) | AstLiteral::Ellipsis => Err(NotProven),
    }
}

fn arithmetic(left: Option<Number>, op: BinOp, right: Option<Number>) -> Option<Number> {
    let (a, b) = (left?, right?);
    let int = match op {
        BinOp::Multiply => a.int * b.int,
        // Integers: the divisor is at least one away from zero.
        BinOp::FloorDivide => a.int + 1.0,
        BinOp::Percent => b.int,
        BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => 2.0 * a.int.max(b.int) + 1.0,
        _ => a.int + b.int,
    };
    Some(Number {
        int,
        float: a.float || b.float || op == BinOp::Divide,
    })
}
