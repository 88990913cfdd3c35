//! A script, compiled: the author's text becomes one function, compiled once and called for each query.
//!
//! Compiling runs in a worker process first, for anything may happen in it: the compiler folds constants and calls
//! builtins for that. What a worker found to be quick is compiled here again.

use crate::lexer::{Token, tokens};
use crate::nesting::{MAX_NESTING, too_deep};
use crate::quick;
use crate::rewrite::{Frame, rewrite};
use crate::source::{Mapped, line_column};
use crate::syntax;
use gslb_engine::script::{MAX_SCRIPT_BYTES, ScriptError, ScriptReads};
use starlark::codemap::FileSpanRef;
use starlark::environment::{Globals, LibraryExtension, Module};
use starlark::eval::{BeforeStmtFunc, BeforeStmtFuncDyn, Evaluator};
use starlark::syntax::{AstModule, Dialect};
use starlark::values::OwnedFrozenValue;
use std::sync::LazyLock;

/// How the name of the function begins that the text is wrapped in.
const FUNCTION: &str = "step";
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
    /// Steps that it takes then, at most.
    pub steps: u16,
}

/// A compiled script.
pub(crate) struct Program {
    pub(crate) function: OwnedFrozenValue,
    pub(crate) facts: Facts,
    /// Compiled so that a run can be looked at before each statement.
    pub(crate) guarded: bool,
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
        Checked::new(body)?.compile(false)
    }
}

/// A script that has been parsed and looked at, which takes nobody's time, and not yet compiled.
#[derive(Debug)]
pub(crate) struct Checked<'b> {
    body: &'b str,
    tokens: Vec<Token>,
    pub(crate) facts: Facts,
}

impl<'b> Checked<'b> {
    /// Parses `body` and looks at it.
    ///
    /// # Errors
    /// Where and why it is no script.
    pub(crate) fn new(body: &'b str) -> Result<Self, ScriptError> {
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
        // As it stands first: so `return` outside of a function is an error, and messages speak of what the author wrote.
        let plain = rewrite(body, &tokens, Frame::NONE).map_err(|at| long_chain(body, at))?;
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
        let (quick_up_to, steps) = quick::up_to(body, tree.statement());
        Ok(Self {
            body,
            tokens,
            facts: Facts {
                reads,
                quick_up_to,
                steps,
            },
        })
    }

    /// Compiles it; `guarded` so that a run can be looked at before each statement. Not for scripts that are not proven
    /// quick, except in a worker: may panic, overflow the stack and eat memory.
    ///
    /// # Errors
    /// Where and why it is no script.
    pub(crate) fn compile(self, guarded: bool) -> Result<Program, ScriptError> {
        let Self { body, tokens, facts } = self;
        // A name that the text does not have in it, so that it cannot call itself by it.
        let mut name = FUNCTION.to_owned();
        while body.contains(&name) {
            name.push('_');
        }
        let head = format!("def {name}({}):\n", PARAMETERS.join(", "));
        let frame = Frame {
            head: &head,
            indent: " ",
            tail: "\n return result\n",
        };
        let wrapped = rewrite(body, &tokens, frame).map_err(|at| long_chain(body, at))?;
        let inside = Dialect {
            enable_load: false,
            ..Dialect::Standard
        };
        let tree = parse(body, &wrapped, &inside)?;
        let function = freeze(tree, &name, guarded).map_err(|error| match error {
            Unfrozen::Starlark(error) => author_error(body, &wrapped, &error),
            Unfrozen::Other(message) => error_at(body, 0, message),
        })?;
        Ok(Program {
            function,
            facts,
            guarded,
            body: body.to_owned(),
            wrapped,
        })
    }
}

impl Program {
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

/// Does nothing before a statement; its presence makes the compiler leave room for something that does.
struct Nothing;

impl<'e> BeforeStmtFuncDyn<'e> for Nothing {
    fn call<'v>(
        &mut self,
        _: FileSpanRef<'_>,
        _: bool,
        _: &mut Evaluator<'v, '_, 'e>,
    ) -> starlark::Result<()> {
        Ok(())
    }
}

fn freeze(tree: AstModule, name: &str, guarded: bool) -> Result<OwnedFrozenValue, Unfrozen> {
    Module::with_temp_heap(|module| {
        {
            let mut evaluator = Evaluator::new(&module);
            evaluator.set_print_handler(&crate::run::Silent);
            if guarded {
                evaluator.before_stmt_for_dap(BeforeStmtFunc::from_dyn(Box::new(Nothing)));
            }
            evaluator
                .eval_module(tree, &GLOBALS)
                .map_err(Unfrozen::Starlark)?;
        }
        let frozen = module
            .freeze()
            .map_err(|error| Unfrozen::Other(format!("{error:?}")))?;
        frozen
            .get(name)
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

fn long_chain(body: &str, at: usize) -> ScriptError {
    error_at(body, at, "too many comparisons in one chain".to_owned())
}

/// The error with its place in the author's text.
fn author_error(body: &str, made: &Mapped, error: &starlark::Error) -> ScriptError {
    let at = error
        .span()
        .map_or(0, |span| usize::try_from(span.span.begin().get()).unwrap_or(0));
    let at = made.origin(at);
    let text = error.without_diagnostic().to_string();
    let text = text.strip_prefix("Parse error: ").unwrap_or(&text).trim();
    let rest = body.get(at..).unwrap_or_default();
    if text == NO_TABS {
        // Told of the end of the line before.
        return error_at(body, at + rest.find('\t').unwrap_or(0), text.to_owned());
    }
    let stranger = rest.chars().next().filter(|letter| !letter.is_ascii());
    if let Some(letter) = stranger.filter(|_| text.starts_with(NO_TOKEN)) {
        return error_at(body, at, out_of_place(letter));
    }
    error_at(body, at, text.to_owned())
}

/// What the interpreter says of tabs, and of what begins no token.
const NO_TABS: &str = "tabs are not allowed";
const NO_TOKEN: &str = "invalid input";

/// What to say of a letter that may stand in texts and comments only. As its number as well: some of them look like
/// others, or like nothing.
fn out_of_place(letter: char) -> String {
    let number = u32::from(letter);
    // Marks that are put on the letter before are no letters themselves.
    let shown = if letter.is_alphanumeric() {
        format!("`{letter}` (U+{number:04X})")
    } else {
        format!("U+{number:04X}")
    };
    format!(
        "{shown} may stand in texts and comments only; names are made of the letters a to z and A to Z, digits and `_`"
    )
}
