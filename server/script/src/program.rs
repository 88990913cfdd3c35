//! A script, compiled: the author's text becomes one function, compiled once and called for each query.
//!
//! Compiling runs in a worker process first, for anything may happen in it: the compiler folds constants and calls
//! builtins for that. What a worker found to be quick is compiled here again.

use crate::lexer::tokens;
use crate::nesting::{MAX_NESTING, too_deep};
use crate::quick;
use crate::rewrite::{Frame, rewrite};
use crate::source::{Mapped, line_column};
use crate::syntax;
use gslb_engine::script::{MAX_SCRIPT_BYTES, ScriptError, ScriptReads};
use starlark::environment::{Globals, LibraryExtension, Module};
use starlark::eval::Evaluator;
use starlark::syntax::{AstModule, Dialect};
use starlark::values::OwnedFrozenValue;
use std::sync::LazyLock;

/// Name of the function that the text is wrapped in.
const FUNCTION: &str = "step__";
/// The builtins of the language and `print`, and nothing else: no files, no clock, no modules.
static GLOBALS: LazyLock<Globals> = LazyLock::new(|| Globals::extended_by(&[LibraryExtension::Print]));
/// What a script knows of the query; the order is that of the arguments.
pub(crate) const PARAMETERS: [&str; 8] = [
    "qname",
    "qtype",
    "client_ip",
    "client_country",
    "client_asn",
    "now",
    "service",
    "candidates",
];

/// What a worker tells of a script that compiles.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub reads: ScriptReads,
    /// With how many candidates it is proven to be quick; 0 if it is not.
    pub quick_up_to: u16,
}

/// A compiled script.
pub(crate) struct Program {
    pub(crate) function: OwnedFrozenValue,
    pub(crate) facts: Facts,
    body: String,
    wrapped: Mapped,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program")
            .field("facts", &self.facts)
            .field("body", &self.body)
            .finish_non_exhaustive()
    }
}

impl Program {
    /// Compiles `body`. Not for bodies that nobody has looked at: may panic, overflow the stack and eat memory.
    ///
    /// # Errors
    /// Where and why it is no script.
    pub(crate) fn compile(body: &str) -> Result<Self, ScriptError> {
        if body.len() > MAX_SCRIPT_BYTES {
            let message = format!(
                "the script has {} bytes, and at most {MAX_SCRIPT_BYTES} are allowed",
                body.len()
            );
            return Err(ScriptError {
                line: 1,
                column: 1,
                message,
            });
        }
        let tokens = tokens(body);
        if let Some((at, what)) = too_deep(body, &tokens) {
            return Err(error_at(
                body,
                at,
                format!("more than {MAX_NESTING} {what} inside one another"),
            ));
        }
        let chain = |at| error_at(body, at, "too many comparisons in one chain".to_owned());

        // As it stands first: so `return` outside of a function is an error, and messages speak of what the author wrote.
        let plain = rewrite(body, &tokens, Frame::NONE).map_err(chain)?;
        let outside = Dialect {
            enable_load: false,
            enable_top_level_stmt: true,
            ..Dialect::Standard
        };
        let tree = parse(body, &plain, &outside)?;
        if !syntax::sets(tree.statement(), "result") {
            let message = "`result` is never set: it has to become the list of addresses".to_owned();
            return Err(error_at(body, body.trim_end().len(), message));
        }
        let reads = syntax::reads(tree.statement());
        let quick_up_to = quick::up_to(body, tree.statement());

        let head = format!("def {FUNCTION}({}):\n", PARAMETERS.join(", "));
        let frame = Frame {
            head: &head,
            indent: " ",
            tail: "\n return result\n",
        };
        let wrapped = rewrite(body, &tokens, frame).map_err(chain)?;
        let inside = Dialect {
            enable_load: false,
            ..Dialect::Standard
        };
        let tree = parse(body, &wrapped, &inside)?;
        let function = freeze(tree).map_err(|error| match error {
            Unfrozen::Starlark(error) => author_error(body, &wrapped, &error),
            Unfrozen::Other(message) => error_at(body, 0, message),
        })?;
        Ok(Self {
            function,
            facts: Facts { reads, quick_up_to },
            body: body.to_owned(),
            wrapped,
        })
    }

    /// An error at run time in the author's terms.
    pub(crate) fn explain(&self, error: &starlark::Error) -> String {
        author_error(&self.body, &self.wrapped, error).to_string()
    }
}

fn parse(body: &str, made: &Mapped, dialect: &Dialect) -> Result<AstModule, ScriptError> {
    AstModule::parse("script", made.text().to_owned(), dialect)
        .map_err(|error| author_error(body, made, &error))
}

enum Unfrozen {
    Starlark(starlark::Error),
    Other(String),
}

fn freeze(tree: AstModule) -> Result<OwnedFrozenValue, Unfrozen> {
    Module::with_temp_heap(|module| {
        {
            let mut evaluator = Evaluator::new(&module);
            evaluator.set_print_handler(&crate::run::Silent);
            evaluator
                .eval_module(tree, &GLOBALS)
                .map_err(Unfrozen::Starlark)?;
        }
        let frozen = module
            .freeze()
            .map_err(|error| Unfrozen::Other(format!("{error:?}")))?;
        frozen
            .get(FUNCTION)
            .map_err(|error| Unfrozen::Other(error.to_string()))
    })
}

fn error_at(body: &str, at: usize, message: String) -> ScriptError {
    let (line, column) = line_column(body, at);
    ScriptError {
        line,
        column,
        message,
    }
}

/// The error with its place in the author's text.
fn author_error(body: &str, made: &Mapped, error: &starlark::Error) -> ScriptError {
    let at = error
        .span()
        .map_or(0, |span| usize::try_from(span.span.begin().get()).unwrap_or(0));
    let text = error.without_diagnostic().to_string();
    let text = text.strip_prefix("Parse error: ").unwrap_or(&text).trim();
    error_at(body, made.origin(at), text.to_owned())
}
