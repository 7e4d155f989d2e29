//! From what a request names to what it is for, or to the error that says what is wrong with the name.

use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::dispatch::missing;
use super::params::Params;
use super::refusal::Refusal;
use super::target::{Completable, Completing, Target};
use super::tasks::{self, TaskAction, TaskRequest};
use super::uri;
use super::visible::View;
use crate::dialect::{Era, Revision};
use crate::error::code;
use crate::model::completion::{CompletionArgument, CompletionContext, CompletionReference};
use crate::model::error_data::ResourceNotFoundData;
use crate::model::{In, Json, TaskSupport};
use crate::wire::jsonrpc;

/// For `tools/call` (TOOL-30, TOOL-42, TASK-06).
pub(super) fn tool(view: &View<'_>, era: Era, params: &Params<'_>) -> Result<Target, Refusal> {
    let name = text(params.name, "name", "params.name")?;
    let missing = || unknown(view.config.tools.catalog.unknown(&name, view), "params.name");
    let tool = view.tool(&name).ok_or_else(missing)?;
    if let Some(arguments) = params.arguments
        && !arguments.get().starts_with('{')
    {
        // Fails on everything but an object, with the words for it.
        jsonrpc::decode_at::<BTreeMap<String, IgnoredAny>>(arguments.get(), "params.arguments")?;
    }
    // In the legacy era nobody can be asked for the extension (TASK-64).
    let needs_task = era == Era::Modern && tool.task_support() == TaskSupport::Required;
    if needs_task && !tasks::are_declared(&params.meta) {
        return Err(tasks::undeclared());
    }
    Ok(Target::Tool(Arc::clone(tool)))
}

/// For the methods of tasks (TASK-43, TASK-44, TASK-56). Whether there is such a task, their table knows.
pub(super) fn task(method: &str, params: &Params<'_>) -> Result<Target, Refusal> {
    if !tasks::are_declared(&params.meta) {
        return Err(tasks::undeclared());
    }
    let task_id = text(params.task_id, "taskId", "params.taskId")?.into_owned();
    let action = match method {
        "tasks/update" => {
            let responses = params.input_responses.ok_or_else(|| missing("inputResponses"))?;
            TaskAction::Update(jsonrpc::decode_at(responses.get(), "params.inputResponses")?)
        }
        "tasks/cancel" => TaskAction::Cancel,
        _ => TaskAction::Get,
    };
    Ok(Target::Task(Arc::new(TaskRequest { task_id, action })))
}

/// For `prompts/get` (PROMPT-13, PROMPT-14).
pub(super) fn prompt(view: &View<'_>, params: &Params<'_>) -> Result<Target, Refusal> {
    let name = text(params.name, "name", "params.name")?;
    let missing = || unknown(view.config.prompts.catalog.unknown(&name, view), "params.name");
    let prompt = view.prompt(&name).ok_or_else(missing)?;
    prompt.check_arguments(params.arguments)?;
    Ok(Target::Prompt(Arc::clone(prompt)))
}

/// For `resources/read`: a resource of exactly this URI, else the first template that makes it.
pub(super) fn resource(view: &View<'_>, era: Era, params: &Params<'_>) -> Result<Target, Refusal> {
    let uri = text(params.uri, "uri", "params.uri")?;
    if let Some(resource) = view.resource(&uri) {
        return Ok(Target::Resource(Arc::clone(resource)));
    }
    if !uri::is_valid(&uri) {
        return Err(Refusal::plain(code::INVALID_PARAMS, "params.uri: not a URI"));
    }
    match view.made(&uri) {
        Some(read) => Ok(Target::Template(Arc::new(read))),
        None => Err(not_found(view, era, &uri)),
    }
}

/// For `resources/subscribe`: what can be read can be watched.
pub(super) fn watched(view: &View<'_>, era: Era, params: &Params<'_>) -> Result<Arc<str>, Refusal> {
    let uri = uri(params)?;
    if view.is_readable(&uri) { Ok(uri) } else { Err(not_found(view, era, &uri)) }
}

/// The URI of a request that has one, whether there is such a resource or not.
pub(super) fn uri(params: &Params<'_>) -> Result<Arc<str>, Refusal> {
    let uri = text(params.uri, "uri", "params.uri")?;
    if uri::is_valid(&uri) {
        Ok(uri.into())
    } else {
        Err(Refusal::plain(code::INVALID_PARAMS, "params.uri: not a URI"))
    }
}

/// RES-12, RES-13, RES-16
fn not_found(view: &View<'_>, era: Era, uri: &str) -> Refusal {
    let revision = match era {
        Era::Modern => Revision::LATEST,
        Era::Legacy => Revision::LATEST_LEGACY,
    };
    let detail = "`params.uri` is not in the catalog, and no template makes it";
    let message = view.config.resources.catalog.unknown(uri, view);
    Refusal::new(revision.dialect().resource_not_found, message, detail).with_data(not_found_data(uri))
}

/// The `data` of the error for a resource that is not there.
pub(super) fn not_found_data(uri: &str) -> Option<alloc::boxed::Box<RawValue>> {
    Json::new(&In(Revision::LATEST, &ResourceNotFoundData::new(uri))).ok().map(Into::into)
}

/// For `completion/complete` (COMP-05).
pub(super) fn completion(view: &View<'_>, params: &Params<'_>) -> Result<Target, Refusal> {
    let reference = params.reference.ok_or_else(|| missing("ref"))?;
    let reference: CompletionReference = jsonrpc::decode_at(reference.get(), "params.ref")?;
    let argument = params.argument.ok_or_else(|| missing("argument"))?;
    let argument: CompletionArgument = jsonrpc::decode_at(argument.get(), "params.argument")?;
    let context = params.context.map(|context| jsonrpc::decode_at(context.get(), "params.context"));
    let CompletionContext { arguments: context, .. } = context.transpose()?.unwrap_or_default();
    let (of, takes) = match reference {
        CompletionReference::Prompt(reference) => {
            let prompts = &view.config.prompts.catalog;
            let missing = || unknown(prompts.unknown(&reference.name, view), "params.ref.name");
            let prompt = view.prompt(&reference.name).ok_or_else(missing)?;
            (Completable::Prompt(Arc::clone(prompt)), prompt.takes(&argument.name))
        }
        CompletionReference::Resource(reference) => {
            let templates = &view.config.templates.catalog;
            let missing = || unknown(templates.unknown(&reference.uri, view), "params.ref.uri");
            let template = view.template(&reference.uri).ok_or_else(missing)?;
            let takes = template.variables().any(|known| known == argument.name);
            (Completable::Template(Arc::clone(template)), takes)
        }
    };
    if !takes {
        let message = alloc::format!("params.argument.name: not an argument of {:?}", of.name());
        return Err(Refusal::plain(code::INVALID_PARAMS, message));
    }
    Ok(Target::Completion(Arc::new(Completing { of, argument, context })))
}

fn text<'a>(value: Option<&'a RawValue>, member: &str, path: &str) -> Result<Cow<'a, str>, Refusal> {
    Ok(jsonrpc::decode_text(value.ok_or_else(|| missing(member))?.get(), path)?)
}

fn unknown(message: String, path: &str) -> Refusal {
    Refusal::new(code::INVALID_PARAMS, message, alloc::format!("`{path}` is not in the catalog"))
}
