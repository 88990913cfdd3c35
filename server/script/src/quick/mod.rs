//! Proves that a script is quick, whatever the query.
//!
//! The check runs the script on upper bounds instead of values: a text is "at most so long", a number "at most so large", a
//! list "at most so many of these". Each branch is taken, each loop makes its most turns, nothing that was known is
//! forgotten (an assignment adds to what a name may be), and code after `return` or `break` runs as well. So what a real run
//! can do at any point is within what the check has seen there, and what the check has counted is more than any run costs.
//! What it does not know well (formatting, repetition, recursion, unpacked arguments) ends it: then the script is taken for
//! slow, which costs it nothing but the way to a worker.

mod builtins;
mod expr;
mod methods;
mod value;

use crate::placed::MAX_QNAME;
use crate::program::PARAMETERS;
use starlark_syntax::syntax::ast::{
    AssignOp, AssignTarget, AstAssignTarget, AstExpr, AstParameter, AstStmt, BinOp, Parameter, Stmt,
};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use value::{Lists, Maps, Number, Site, Value};

/// Numbers of candidates to prove it for, largest first.
const SIZES: [u16; 3] = [64, 16, 8];
/// What a run may cost, in steps of about 20 ns.
const BUDGET: f64 = 6000.0;
/// Bytes of values that a step makes at most.
pub(crate) const STEP_BYTES: usize = 256;
/// Calls and expressions inside one another.
const MAX_DEPTH: usize = 60;
/// Longest result: each of its addresses is looked up.
const MAX_RESULT: f64 = 512.0;
/// Text that switches the interpreter's type checker on, which nobody has bounded.
const TYPE_CHECK: &str = "@starlark-rust: typecheck";

/// The script is not proven to be quick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct NotProven;

type Checked<T> = Result<T, NotProven>;

/// With how many candidates the script is proven to be quick, and how many steps it takes then; zeros if it is not.
pub(crate) fn up_to(body: &str, statement: &AstStmt) -> (u16, u16) {
    if body.contains(TYPE_CHECK) {
        return (0, 0);
    }
    let proven = |size| Some((size, Check::run(statement, size).ok()?));
    SIZES.into_iter().find_map(proven).unwrap_or((0, 0))
}

/// A function as the check knows it.
#[derive(Debug)]
struct Function<'a> {
    parameters: Vec<&'a str>,
    body: Body<'a>,
    /// Where its other names come from.
    scope: usize,
}

#[derive(Debug)]
enum Body<'a> {
    Statements(&'a AstStmt),
    Expression(&'a AstExpr),
}

impl Body<'_> {
    fn address(&self) -> usize {
        match self {
            Self::Statements(statement) => std::ptr::from_ref(*statement).addr(),
            Self::Expression(expr) => std::ptr::from_ref(*expr).addr(),
        }
    }
}

/// Something to call.
#[derive(Debug, Clone)]
enum Callable<'a> {
    Builtin(&'a str),
    Function(Rc<Function<'a>>),
}

/// Names of one function or comprehension.
#[derive(Debug, Default)]
struct Scope<'a> {
    names: HashMap<&'a str, Value<'a>>,
    parent: Option<usize>,
}

struct Check<'a> {
    spent: f64,
    depth: usize,
    scopes: Vec<Scope<'a>>,
    /// The scope of what is being looked at.
    scope: usize,
    /// What the function being looked at returns.
    returns: Value<'a>,
    /// Where the call or operator being looked at puts what it makes.
    site: Site,
    lists: Lists<'a>,
    maps: Maps<'a>,
    /// Bodies of functions, by their address in the tree, and which of them have been looked at.
    functions: HashSet<usize>,
    called: HashSet<usize>,
}

impl<'a> Check<'a> {
    fn run(statement: &'a AstStmt, candidates: u16) -> Checked<u16> {
        let mut check = Self {
            spent: 0.0,
            depth: 0,
            scopes: vec![Scope::default()],
            scope: 0,
            returns: Value::default(),
            site: Site::default(),
            lists: Lists::default(),
            maps: Maps::default(),
            functions: HashSet::new(),
            called: HashSet::new(),
        };
        for (name, value) in PARAMETERS.into_iter().zip(check.parameters(candidates)) {
            check.assign_name(name, &value)?;
        }
        check.statement(statement)?;
        let result = check.name("result");
        let length = check.iterated(&result)?.0;
        // Functions that nobody calls are compiled all the same, and the compiler evaluates what is constant in them.
        let unseen = check.functions.difference(&check.called).next().is_some();
        if length > MAX_RESULT || unseen {
            Err(NotProven)
        } else {
            // At most the budget, which fits.
            Ok(check.spent.ceil() as u16)
        }
    }

    /// What the script gets, in the order of [`PARAMETERS`].
    fn parameters(&mut self, candidates: u16) -> [Value<'a>; 8] {
        let whole = |most: u64| Value::number(Number::int(most as f64));
        let fraction = Value::number(Number::FLOAT);
        let fields = [
            ("ip", Value::text(45.0)),
            ("port", whole(u64::from(u16::MAX))),
            ("region", Value::text(256.0)),
            ("weight", whole(u64::from(u32::MAX))),
            ("priority", whole(u64::from(u32::MAX))),
            ("asn", whole(u64::from(u32::MAX))),
            ("health_score", fraction.clone()),
            ("rtt_ms", fraction),
        ];
        let candidate = self.maps.create(Site { address: 0, part: 1 });
        for (key, value) in fields {
            self.maps.put(&candidate, Some(key), &Value::text(12.0), &value);
        }
        let list = self
            .lists
            .create(Site { address: 0, part: 2 }, f64::from(candidates), &candidate);
        [
            Value::text(MAX_QNAME as f64),
            Value::text(4.0),
            Value::text(45.0),
            Value::text(2.0),
            whole(u64::from(u32::MAX)),
            whole(u64::MAX),
            Value::text(256.0),
            list,
        ]
    }

    /// Counts what something costs.
    fn spend(&mut self, steps: f64) -> Checked<()> {
        self.spent += steps;
        // Not a number is more than enough, too.
        if self.spent <= BUDGET {
            Ok(())
        } else {
            Err(NotProven)
        }
    }

    fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Checked<T>) -> Checked<T> {
        if self.depth >= MAX_DEPTH {
            return Err(NotProven);
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    fn statement(&mut self, statement: &'a AstStmt) -> Checked<()> {
        self.deeper(|check| check.statement_inside(statement))
    }

    fn statement_inside(&mut self, statement: &'a AstStmt) -> Checked<()> {
        self.spend(1.0)?;
        match &statement.node {
            Stmt::Break | Stmt::Continue | Stmt::Pass | Stmt::Return(None) => Ok(()),
            Stmt::Return(Some(expr)) => {
                let value = self.expr(expr)?;
                self.returns.join(&value);
                Ok(())
            }
            Stmt::Expression(expr) => self.expr(expr).map(|_| ()),
            Stmt::Assign(assign) => {
                let value = self.expr(&assign.rhs)?;
                if assign.ty.is_some() {
                    return Err(NotProven);
                }
                self.assign(&assign.lhs, &value)
            }
            Stmt::AssignModify(target, op, expr) => self.modify(target, *op, expr),
            Stmt::Statements(list) => list.iter().try_for_each(|one| self.statement(one)),
            Stmt::If(condition, then) => {
                self.expr(condition)?;
                self.statement(then)
            }
            Stmt::IfElse(condition, both) => {
                self.expr(condition)?;
                self.statement(&both.0)?;
                self.statement(&both.1)
            }
            Stmt::For(each) => {
                let over = self.expr(&each.over)?;
                let (turns, item) = self.iterated(&over)?;
                self.repeat(turns, |check| {
                    check.assign(&each.var, &item)?;
                    check.statement(&each.body)
                })
            }
            Stmt::Def(def) => {
                if def.return_type.is_some() {
                    return Err(NotProven);
                }
                let function = self.function(&def.params, Body::Statements(&def.body))?;
                self.assign_name(&def.name.node.ident, &function)
            }
            Stmt::Load(_) => Err(NotProven),
        }
    }

    /// Does something as often as a loop turns at most, and once at least, so that all code is seen.
    fn repeat(&mut self, turns: f64, mut turn: impl FnMut(&mut Self) -> Checked<()>) -> Checked<()> {
        let mut done = 0.0;
        loop {
            self.spend(1.0)?;
            turn(self)?;
            done += 1.0;
            if done >= turns {
                return Ok(());
            }
        }
    }

    fn function(&mut self, parameters: &'a [AstParameter], body: Body<'a>) -> Checked<Value<'a>> {
        let mut known = Vec::with_capacity(parameters.len());
        for parameter in parameters {
            match &parameter.node {
                // Defaults are not proven: they are evaluated anew wherever the same text makes a function again, and
                // functions are told apart by their text.
                Parameter::Normal(name, None, None) => known.push(name.node.ident.as_str()),
                _ => return Err(NotProven),
            }
        }
        self.functions.insert(body.address());
        let function = Function {
            parameters: known,
            body,
            scope: self.scope,
        };
        Ok(Value::callable(Callable::Function(Rc::new(function))))
    }

    /// Calls with arguments by position and by name.
    fn call(
        &mut self,
        function: &Rc<Function<'a>>,
        arguments: &[Value<'a>],
        named: &[(&'a str, Value<'a>)],
    ) -> Checked<Value<'a>> {
        self.spend(2.0)?;
        self.called.insert(function.body.address());
        let outer = self.scope;
        let outer_returns = std::mem::take(&mut self.returns);
        self.open_scope(function.scope);
        for (index, name) in function.parameters.iter().enumerate() {
            let mut value = Value::default();
            if let Some(given) = arguments.get(index) {
                value.join(given);
            }
            for (_, given) in named.iter().filter(|(given, _)| given == name) {
                value.join(given);
            }
            self.assign_name(name, &value)?;
        }
        let result = self.deeper(|check| match &function.body {
            Body::Statements(body) => {
                check.statement(body)?;
                let mut returned = std::mem::take(&mut check.returns);
                returned.join(&Value::other());
                Ok(returned)
            }
            Body::Expression(body) => check.expr(body),
        })?;
        self.scope = outer;
        self.returns = outer_returns;
        Ok(result)
    }

    /// Calls whatever a value may be.
    fn call_value(
        &mut self,
        callee: &Value<'a>,
        arguments: &[Value<'a>],
        named: &[(&'a str, Value<'a>)],
    ) -> Checked<Value<'a>> {
        let mut result = Value::default();
        for callable in &callee.callables {
            let value = match callable {
                Callable::Builtin(name) => self.builtin(name, arguments, named)?,
                Callable::Function(function) => self.call(function, arguments, named)?,
            };
            result.join(&value);
        }
        Ok(result)
    }

    fn open_scope(&mut self, parent: usize) {
        self.scopes.push(Scope {
            names: HashMap::new(),
            parent: Some(parent),
        });
        self.scope = self.scopes.len() - 1;
    }

    /// What a name may stand for here. A name that has no value yet, and is no builtin, ends a real run.
    fn name(&self, name: &'a str) -> Value<'a> {
        let mut scope = Some(self.scope);
        while let Some(found) = scope.and_then(|index| self.scopes.get(index)) {
            if let Some(value) = found.names.get(name) {
                return value.clone();
            }
            scope = found.parent;
        }
        match name {
            "True" | "False" | "None" => Value::other(),
            _ => Value::callable(Callable::Builtin(name)),
        }
    }

    fn assign_name(&mut self, name: &'a str, value: &Value<'a>) -> Checked<()> {
        let scope = self.scopes.get_mut(self.scope).ok_or(NotProven)?;
        let known = scope.names.entry(name).or_default();
        known.join(value);
        known.check()
    }

    fn assign(&mut self, target: &'a AstAssignTarget, value: &Value<'a>) -> Checked<()> {
        self.spend(1.0)?;
        match &target.node {
            AssignTarget::Identifier(name) => self.assign_name(&name.node.ident, value),
            AssignTarget::Tuple(targets) => {
                for (index, target) in targets.iter().enumerate() {
                    let part = match &value.tuple {
                        Some(parts) if value.lists.is_empty() && value.maps.is_empty() => {
                            parts.get(index).cloned().unwrap_or_default()
                        }
                        _ => self.iterated(value)?.1,
                    };
                    self.assign(target, &part)?;
                }
                Ok(())
            }
            AssignTarget::Index(both) => {
                let object = self.expr(&both.0)?;
                let index = self.expr(&both.1)?;
                self.store(&object, &both.1, &index, value)
            }
            AssignTarget::Dot(..) => Err(NotProven),
        }
    }

    fn store(
        &mut self,
        object: &Value<'a>,
        key: &'a AstExpr,
        index: &Value<'a>,
        value: &Value<'a>,
    ) -> Checked<()> {
        let steps = self.bulk(index)?;
        self.spend(steps)?;
        self.lists.add(object, 0.0, value);
        self.maps.put(object, expr::literal_text(key), index, value);
        Ok(())
    }

    fn modify(&mut self, target: &'a AstAssignTarget, op: AssignOp, expr: &'a AstExpr) -> Checked<()> {
        let op = match op {
            AssignOp::Add => BinOp::Add,
            AssignOp::Subtract => BinOp::Subtract,
            AssignOp::Multiply => BinOp::Multiply,
            AssignOp::Divide => BinOp::Divide,
            AssignOp::FloorDivide => BinOp::FloorDivide,
            AssignOp::Percent => BinOp::Percent,
            AssignOp::BitAnd => BinOp::BitAnd,
            AssignOp::BitOr => BinOp::BitOr,
            AssignOp::BitXor => BinOp::BitXor,
            AssignOp::LeftShift | AssignOp::RightShift => return Err(NotProven),
        };
        let old = match &target.node {
            AssignTarget::Identifier(name) => self.name(&name.node.ident),
            AssignTarget::Index(both) => {
                let object = self.expr(&both.0)?;
                let index = self.expr(&both.1)?;
                self.item(&object, &both.1, &index)?
            }
            AssignTarget::Tuple(_) | AssignTarget::Dot(..) => return Err(NotProven),
        };
        let by = self.expr(expr)?;
        if op == BinOp::Add && !old.lists.is_empty() {
            // Lists grow in place.
            let (length, item) = self.iterated(&by)?;
            self.spend(length)?;
            self.lists.add(&old, length, &item);
            self.lists.check(&old)?;
        }
        if op == BinOp::BitOr && !old.maps.is_empty() {
            return Err(NotProven);
        }
        self.site = expr::site(expr, 1);
        let mut value = self.binary(&old, op, &by)?;
        value.join(&old);
        self.assign(target, &value)
    }
}
