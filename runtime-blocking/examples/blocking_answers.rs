//! A client that answers what servers ask: forms, on the terminal, and visits to pages.
//!
//! `cargo run --example blocking_answers -- SERVER TOOL ARGUMENTS`, where SERVER is a URL or a command line, such as
//! `"cargo run -q --example blocking_elicit -- --stdio" book '{"destination": "Lisbon"}'` (build that one first).

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write};

use mcp_blocking::model::{
    ElicitAction, ElicitRequestFormParams, ElicitRequestUrlParams, ElicitResult, PrimitiveSchemaDefinition,
};
use mcp_blocking::{AnswerError, Asked, Calls, Client, Json};
use serde_json::Value;

/// Shows a form field by field, in the order of the server. What is left empty gets its default, if it has one.
fn fill_in(form: ElicitRequestFormParams, asked: Asked) -> Result<ElicitResult, AnswerError> {
    println!("{} asks: {}", name(&asked), form.message);
    let schema = &form.requested_schema;
    let mut content = BTreeMap::new();
    for (field, kind) in &schema.properties {
        show(field, kind);
        let is_required = schema.required.contains(field) && kind.default_json().is_none();
        // Whoever typed something that does not fit is asked again, here and not by the server.
        let value = loop {
            let line = read("    > ")?;
            match Json::new(&value(kind, &line)).map(|value| (kind.check(&value), value)) {
                Ok(_) if line.is_empty() && !is_required => break None,
                Ok((Ok(()), value)) if !line.is_empty() => break Some(value),
                _ => println!("    expected {}", kind.expected()),
            }
        };
        if let Some(value) = value {
            content.insert(field.clone(), value);
        }
    }
    // To refuse is up to the user, whatever the server would like.
    match read("Send this? [yes/no] ")?.as_str() {
        "yes" => Ok(ElicitResult::accept(Json::new(&content)?)),
        _ => Ok(ElicitAction::Decline.into()),
    }
}

/// What a field is for, what fits, and what it is if it is left empty.
fn show(field: &str, kind: &PrimitiveSchemaDefinition) {
    let title = kind.title().unwrap_or(field);
    println!("  {title}: {} ({})", kind.description().unwrap_or(field), kind.expected());
    for (value, name) in kind.choices() {
        println!("    - {value}{}", if name == value { String::new() } else { format!(": {name}") });
    }
    if let Some(default) = kind.default_json() {
        println!("    left empty: {}", default.get());
    }
}

/// Shows a URL. A program with a window would open it in the user's browser once they agree, and never before.
fn visit(page: ElicitRequestUrlParams, asked: Asked) -> Result<ElicitAction, AnswerError> {
    println!("{} wants you to visit {}: {}", name(&asked), page.url, page.message);
    Ok(match read("Will you? [yes/no] ")?.as_str() {
        "yes" => ElicitAction::Accept,
        _ => ElicitAction::Decline,
    })
}

/// Who asks, in its own words: people should know, but it proves nothing.
fn name(asked: &Asked) -> &str {
    asked.server().info.as_ref().map_or("The server", |server| &server.name)
}

/// What was typed, as the form wants it: several choices with commas in between.
fn value(kind: &PrimitiveSchemaDefinition, line: &str) -> Value {
    match kind {
        PrimitiveSchemaDefinition::Number(_) | PrimitiveSchemaDefinition::Boolean(_) => {
            serde_json::from_str(line).unwrap_or_else(|_| line.into())
        }
        kind if kind.takes_several() => line.split(',').map(str::trim).collect(),
        _ => line.into(),
    }
}

fn read(prompt: &str) -> io::Result<String> {
    print!("{prompt}");
    io::stdout().flush()?;
    let mut line = String::new();
    if io::stdin().read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim().to_owned())
}

fn main() -> Result<(), Box<dyn Error>> {
    let [server, tool, arguments] = std::env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| {
        "expected SERVER TOOL ARGUMENTS, such as http://127.0.0.1:8000/mcp book '{\"destination\": \"Lisbon\"}'"
    })?;
    let client =
        Client::builder("terminal", "1.0.0").on_elicit(fill_in).on_elicit_url(visit).connect(server)?;
    let reply = client.call_tool(&tool, Json::parse(arguments)?)?;
    println!("{}", reply.text());
    client.close()?;
    Ok(())
}
