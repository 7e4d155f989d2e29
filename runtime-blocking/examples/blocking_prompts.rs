//! Prompts and resources of a kitchen: a prompt to fill in, with suggestions; a text, a picture, and a family of
//! resources, with suggestions, too.
//!
//! `cargo run --example blocking_prompts`

use std::time::Duration;

use mcp_blocking::model::{Annotations, CacheScope, ContentBlock, PromptMessage, Role, TextResourceContents};
use mcp_blocking::{Context, Prompt, Resource, ResourceTemplate, Server, ToolError, Typed};

const RECIPES: [(&str, &str); 3] = [
    ("borscht", "Beets, cabbage, a bone. Three hours."),
    ("bread", "Flour, water, salt, time."),
    ("pesto", "Basil, pine nuts, cheese, oil."),
];

fn recipe(dish: &str) -> Result<&'static str, ToolError> {
    RECIPES.iter().find(|(name, _)| *name == dish).map(|(_, text)| *text).ok_or(ToolError::not_found())
}

/// What dishes begin like that.
fn dishes(typed: Typed, _: Context) -> Result<Vec<&'static str>, ToolError> {
    Ok(RECIPES.iter().map(|(name, _)| *name).filter(|name| name.starts_with(&typed.value)).collect())
}

/// The arguments of a prompt, all of which are strings.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Cook {
    /// What to cook.
    dish: String,
    /// For how many.
    guests: Option<String>,
}

/// A conversation to begin with: of text, and of the recipe itself.
fn cook(Cook { dish, guests }: Cook, _: Context) -> Result<Vec<PromptMessage>, ToolError> {
    let text = recipe(&dish).map_err(|_| ToolError::new(format!("there is no recipe for {dish}")))?;
    let guests = guests.unwrap_or("two".to_owned());
    Ok(vec![
        PromptMessage::user(ContentBlock::resource(TextResourceContents::new(
            format!("recipe://{dish}"),
            text,
        ))),
        PromptMessage::user(ContentBlock::text(format!("Cook this for {guests}, step by step."))),
        PromptMessage::assistant(ContentBlock::text("What is in your cupboard?")),
    ])
}

/// What the variables of a URI say, which are strings, too.
#[derive(serde::Deserialize)]
struct Dish {
    dish: String,
}

/// A kitchen.
pub fn server() -> Server {
    let text = |uri: &str, name: &str| Resource::new(uri, name).mime_type("text/plain");
    let for_people = Annotations::new().audience(vec![Role::User]).priority(0.3);
    Server::new("kitchen", "1.0.0")
        .page_size(50)
        // All of it is the same for everybody, and for a day.
        .cache(Duration::from_secs(24 * 60 * 60), CacheScope::Public)
        .prompt(Prompt::new("cook").title("Cook something").description("Guides through a recipe"), cook)
        .complete_prompt("cook", "dish", dishes)
        .resource(
            text("kitchen://rules", "rules").description("What everybody should know"),
            "Wash your hands.",
        )
        .resource(text("kitchen://time", "time"), |_: Context| {
            Ok(format!("{} recipes so far", RECIPES.len()))
        })
        .resource(
            Resource::new("kitchen://photo", "photo").mime_type("image/png").annotations(for_people),
            b"\x89PNG...".as_slice(),
        )
        .resource_template(
            ResourceTemplate::new("recipe://{dish}", "recipe")
                .mime_type("text/plain")
                .description("A recipe"),
            |Dish { dish }: Dish, _: Context| recipe(&dish),
        )
        .complete_template("recipe://{dish}", "dish", dishes)
}

fn main() -> Result<(), mcp_blocking::Error> {
    server().serve_http("127.0.0.1:8000")
}
