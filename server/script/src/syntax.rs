//! Questions about the syntax tree of a script.

use gslb_engine::script::ScriptReads;
use starlark_syntax::syntax::ast::{AssignTarget, AstAssignTarget, AstExpr, AstStmt, Expr, Stmt};

/// Whether the script itself, and not only a function in it, gives `name` a value.
pub(crate) fn sets(statement: &AstStmt, name: &str) -> bool {
    match &statement.node {
        Stmt::Assign(assign) => target_names(&assign.lhs, name),
        Stmt::AssignModify(target, _, _) => target_names(target, name),
        Stmt::Statements(list) => list.iter().any(|one| sets(one, name)),
        Stmt::If(_, then) => sets(then, name),
        Stmt::IfElse(_, both) => sets(&both.0, name) || sets(&both.1, name),
        Stmt::For(each) => target_names(&each.var, name) || sets(&each.body, name),
        Stmt::Def(def) => def.name.node.ident == name,
        _ => false,
    }
}

fn target_names(target: &AstAssignTarget, name: &str) -> bool {
    match &target.node {
        AssignTarget::Identifier(ident) => ident.node.ident == name,
        AssignTarget::Tuple(targets) => targets.iter().any(|one| target_names(one, name)),
        _ => false,
    }
}

/// Which facts about the client the script mentions, anywhere.
pub(crate) fn reads(statement: &AstStmt) -> ScriptReads {
    let mut reads = ScriptReads::default();
    statement.visit_expr(|expr| note(expr, &mut reads));
    reads
}

fn note(expr: &AstExpr, reads: &mut ScriptReads) {
    if let Expr::Identifier(ident) = &expr.node {
        match ident.node.ident.as_str() {
            "client_ip" => reads.client_ip = true,
            "client_country" => reads.client_country = true,
            "client_asn" => reads.client_asn = true,
            _ => {}
        }
    }
    expr.visit_expr(|inner| note(inner, reads));
}
