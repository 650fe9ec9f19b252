#include "server/openapi.hpp"

#include "protocol/jobs_api.hpp"
#include "records/json_schema.hpp"
#include "records/json_writer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

namespace zeus::server {

namespace {

using records::JsonSchema;
using records::JsonWriter;
using records::SharedSchema;

std::string_view word_of(Parameter::Place place) {
  switch (place) {
    case Parameter::Place::path:
      return "path";
    case Parameter::Place::query:
      return "query";
    case Parameter::Place::header:
      break;
  }
  return "header";
}

void put_content(JsonWriter& json, std::string_view type, const SharedSchema& schema) {
  json.put("content", [&] {
    json.put(type, [&] {
      if (schema) {
        json.put("schema", *schema);
      } else {
        json.put("schema", [&] { json.put("type", type == protocol::json_type ? "object" : "string"); });
      }
    });
  });
}

// Writes the form of a refusal.
void put_refusal(JsonWriter& json, const Route& route) {
  if (route.refusal) {
    put_content(json, protocol::json_type, route.refusal);
  } else {
    put_content(json, problem_type, records::shared_schema<protocol::Problem>());
  }
}

void put_parameters(JsonWriter& json, const Route& route) {
  if (route.parameters.empty()) {
    return;
  }
  json.put_list("parameters", route.parameters, [&](const Parameter& parameter) {
    json.object([&] {
      json.put("name", parameter.name);
      json.put("in", word_of(parameter.place));
      json.put("description", parameter.help);
      json.put("required", parameter.required);
      json.put("schema", parameter.schema);
    });
  });
}

void put_operation(JsonWriter& json, const Route& route) {
  json.put(route.method == "GET"     ? "get"
           : route.method == "PUT"   ? "put"
           : route.method == "POST"  ? "post"
           : route.method == "PATCH" ? "patch"
                                     : "delete",
           [&] {
             json.put("operationId", route.id);
             json.put("summary", route.summary);
             put_parameters(json, route);
             if (route.body) {
               json.put("requestBody", [&] {
                 json.put("required", true);
                 put_content(json, route.body_type, route.body);
               });
             }
             json.put("responses", [&] {
               std::map<int, std::pair<std::string_view, const Outcome*>> all;
               for (const Refused& refused : refusals_of(route)) {
                 all[refused.status] = {refused.meaning, nullptr};
               }
               for (const Outcome& outcome : route.outcomes) {
                 all[outcome.status] = {outcome.meaning, &outcome};
               }
               for (const auto& [status, what] : all) {
                 json.put(std::to_string(status), [&, &meaning = what.first, outcome = what.second] {
                   json.put("description", meaning);
                   if (outcome == nullptr) {
                     put_refusal(json, route);
                   } else if (!outcome->type.empty()) {
                     put_content(json, outcome->type, outcome->schema);
                   }
                 });
               }
             });
             if (const auto* const scope = std::get_if<protocol::Scope>(&route.needs)) {
               json.put_list("security", std::vector{"bearer", "basic"}, [&](const char* scheme) {
                 json.object([&] { json.put(scheme, std::vector{field::name_of(*scope)}); });
               });
             }
           });
}

std::vector<SharedSchema> schemas_of(const std::vector<Route>& routes) {
  std::vector<SharedSchema> all{records::shared_schema<protocol::Problem>()};
  for (const Route& route : routes) {
    if (route.body) {
      all.push_back(route.body);
    }
    if (route.refusal) {
      all.push_back(route.refusal);
    }
    for (const Outcome& outcome : route.outcomes) {
      if (outcome.schema) {
        all.push_back(outcome.schema);
      }
    }
  }
  return records::records_of(all);
}

// The paths in the order of the table, each with all its methods.
std::vector<std::pair<std::string_view, std::vector<const Route*>>> by_path(const std::vector<Route>& routes) {
  std::vector<std::pair<std::string_view, std::vector<const Route*>>> paths;
  for (const Route& route : routes) {
    const auto known = std::ranges::find(paths, route.path, [](const auto& path) { return path.first; });
    if (known == paths.end()) {
      paths.push_back({route.path, {&route}});
    } else {
      known->second.push_back(&route);
    }
  }
  return paths;
}

// Such as "`RunAnswer` or `GiveUpAnswer`".
std::string named(const SharedSchema& schema, std::string_view type) {
  if (schema && schema->kind == JsonSchema::Kind::record) {
    return fmt::format("[{0}](#{1})", schema->name, [&] {
      std::string anchor;
      for (const char letter : schema->name) {
        anchor += letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
      }
      return anchor;
    }());
  }
  if (schema && schema->kind == JsonSchema::Kind::one_of) {
    std::vector<std::string> kinds;
    for (const SharedSchema& kind : schema->kinds) {
      kinds.push_back(named(kind, type));
    }
    return fmt::format("{}", fmt::join(kinds, " or "));
  }
  return type.empty() ? std::string{"nothing"} : fmt::format("`{}`", type);
}

std::string type_in_words(const JsonSchema& schema) {
  using Kind = JsonSchema::Kind;
  std::string words;
  switch (schema.kind) {
    case Kind::boolean:
      words = "boolean";
      break;
    case Kind::whole:
      words = "whole number";
      break;
    case Kind::number:
      words = "number";
      break;
    case Kind::string:
      words = "string";
      break;
    case Kind::word:
      words = fmt::format("`{}`", fmt::join(schema.words, "`, `"));
      break;
    case Kind::list:
      words = "list of " + type_in_words(*schema.of);
      break;
    case Kind::tuple:
      words = "tuple of";
      for (const SharedSchema& member : schema.kinds) {
        words += (member == schema.kinds.front() ? " " : ", ") + type_in_words(*member);
      }
      break;
    case Kind::map:
      words = "object of " + type_in_words(*schema.of);
      break;
    case Kind::record:
    case Kind::one_of:
      words = named(std::make_shared<const JsonSchema>(schema), {});
      break;
  }
  const bool counts = schema.kind == Kind::whole || schema.kind == Kind::number;
  if (counts && schema.least && *schema.least > -2147483648.0 && *schema.least < 1e18) {
    words += fmt::format(" {} {}", schema.above_least ? "above" : "from", *schema.least);
  }
  if (counts && schema.most && (schema.kind == Kind::number || *schema.most < 2147483647.0)) {
    words += fmt::format(" to {}", *schema.most);
  }
  return schema.nullable ? words + " or null" : words;
}

}  // namespace

std::vector<Refused> refusals_of(const Route& route) {
  const bool has_path = route.path.find('{') != std::string_view::npos;
  const bool changes = route.method != "GET";
  std::vector<Refused> all;
  if (!route.parameters.empty() || route.body || route.checks_query) {
    all.push_back({400, "the request is not as described here, or makes no sense"});
  }
  if (!std::holds_alternative<service::Anyone>(route.needs)) {
    all.push_back({401, "no valid token"});
  }
  all.push_back({403, "a scope is missing, it belongs to another user, or the request comes from another site"});
  if (has_path) {
    all.push_back({404, "there is no such job or recurrence"});
  }
  if (changes) {
    all.push_back({409, "it conflicts with what is on record"});
  }
  if (route.body) {
    all.push_back({413, "the body is too long"});
    all.push_back({415, "the body is of another type"});
  }
  all.push_back({500, "the server failed, or its store is damaged"});
  all.push_back(
      {503, "the store cannot be used now, or there are too many requests; Retry-After says when to try again"});
  return all;
}

std::string openapi_document(const std::vector<Route>& routes, const std::string& version) {
  JsonWriter json{JsonWriter::Layout::indented};
  json.object([&] {
    json.put("openapi", "3.1.0");
    json.put("info", [&] {
      json.put("title", "Zeus");
      json.put("summary", "Recurring training jobs that become cheaper");
      json.put("version", version);
      json.put("license", [&] {
        json.put("name", "Apache-2.0");
        json.put("identifier", "Apache-2.0");
      });
    });
    json.put("paths", [&] {
      for (const auto& [path, operations] : by_path(routes)) {
        json.put(path, [&, &of_path = operations] {
          for (const Route* const route : of_path) {
            put_operation(json, *route);
          }
        });
      }
    });
    json.put("components", [&] {
      json.put("schemas", [&] {
        for (const SharedSchema& schema : schemas_of(routes)) {
          json.put(schema->name, [&] { write_definition_members(json, *schema); });
        }
      });
      json.put("securitySchemes", [&] {
        for (const char* const scheme : {"bearer", "basic"}) {
          json.put(scheme, [&] {
            json.put("type", "http");
            json.put("scheme", scheme);
          });
        }
      });
    });
  });
  return json.take() + "\n";
}

std::string markdown(const std::vector<Route>& routes) {
  std::string text;
  const auto line = [&text](std::string_view words) {
    text += words;
    text += '\n';
  };
  line("## Operations\n");
  for (const auto& [path, operations] : by_path(routes)) {
    for (const Route* const route : operations) {
      line(fmt::format("### {} {}\n", route->method, route->path));
      const auto* const scope = std::get_if<protocol::Scope>(&route->needs);
      line(fmt::format("{}. Operation `{}`, {}.\n", route->summary, route->id,
                       scope != nullptr ? fmt::format("scope `{}`", field::name_of(*scope)) : "without a token"));
      if (!route->parameters.empty()) {
        line("| parameter | in | is | |\n|---|---|---|---|");
        for (const Parameter& parameter : route->parameters) {
          line(fmt::format("| `{}`{} | {} | {} | {} |", parameter.name, parameter.required ? "" : " (optional)",
                           word_of(parameter.place), type_in_words(parameter.schema), parameter.help));
        }
        line("");
      }
      if (route->body) {
        line(fmt::format("Takes {}.", named(route->body, route->body_type)));
      }
      std::vector<std::string> outcomes;
      for (const Outcome& outcome : route->outcomes) {
        outcomes.push_back(
            fmt::format("{} {} ({})", outcome.status, named(outcome.schema, outcome.type), outcome.meaning));
      }
      std::vector<int> refusals;
      for (const Refused& refused : refusals_of(*route)) {
        refusals.push_back(refused.status);
      }
      line(fmt::format("Answers {}; refuses with {}.\n", fmt::join(outcomes, ", "), fmt::join(refusals, ", ")));
    }
  }
  line("## Records\n");
  for (const SharedSchema& schema : schemas_of(routes)) {
    line(fmt::format("### {}\n", schema->name));
    line("| key | is |\n|---|---|");
    for (const JsonSchema::Field& field : schema->fields) {
      line(
          fmt::format("| `{}`{} | {} |", field.key, field.required ? "" : " (optional)", type_in_words(*field.schema)));
    }
    line("");
  }
  return text;
}

}  // namespace zeus::server
