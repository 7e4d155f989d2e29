//! A client that answers what servers ask: forms, on the terminal, and visits to pages.
//!
//! `cargo run --example blocking_answers -- SERVER TOOL ARGUMENTS`, where SERVER is a URL or a command line, such as
//! `"cargo run -q --example blocking_elicit -- --stdio" book '{"destination": "Lisbon"}'`.

use std::error::Error;
use std::io::{self, Write};

use mcp_blocking::model::{
    ElicitAction, ElicitRequestFormParams, ElicitRequestUrlParams, ElicitResult, PrimitiveSchemaDefinition,
};
use mcp_blocking::{AnswerError, Asked, Calls, Client, Json};
use serde_json::{Map, Value};

/// Shows a form field by field. What is left empty gets its default, if it has one.
fn fill_in(form: ElicitRequestFormParams, asked: Asked) -> Result<ElicitResult, AnswerError> {
    println!("{} asks: {}", name(&asked), form.message);
    let mut content = Map::new();
    for (field, schema) in &form.requested_schema.properties {
        let line = read(&format!("  {field}? "))?;
        if !line.is_empty() {
            content.insert(field.clone(), value(schema, line));
        }
    }
    // To refuse is up to the user, whatever the server would like.
    match read("Send this? [yes/no] ")?.as_str() {
        "yes" => Ok(ElicitResult::accept(Json::new(&content)?)),
        _ => Ok(ElicitAction::Decline.into()),
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

/// What was typed, as the form wants it. What does not fit is found before it is sent.
fn value(schema: &PrimitiveSchemaDefinition, line: String) -> Value {
    match schema {
        PrimitiveSchemaDefinition::Number(_) | PrimitiveSchemaDefinition::Boolean(_) => {
            serde_json::from_str(&line).unwrap_or(Value::String(line))
        }
        _ => Value::String(line),
    }
}

fn read(prompt: &str) -> io::Result<String> {
    print!("{prompt}");
    io::stdout().flush()?;
    let mut line = String::new();
    io::stdin().read_line(&mut line)?;
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
