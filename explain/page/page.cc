// BUILD: embed "page.html", "page.css", "data.js", "parts.js", "search.js", "rows.js", "graph.js", "source.js", "mesh.js", "detail.js", "page.js", "//hlo/page:base.css", "//hlo/page:theme.js", "//hlo/page:text.js", "@dagre//:dagre.min.js"
#include "explain/page/page.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "explain/explain_json.h"
#include "explain/explain_table.h"
#include "explain/page/mesh_section.h"
#include "explain/page/program_section.h"
#include "explain/page/source_section.h"
#include "hlo/analysis/merged_collectives.h"
#include "hlo/analysis/program_statistics.h"
#include "hlo/base/math.h"
#include "hlo/base/version.h"
#include "hlo/page/embedded_file.h"

namespace toroid {
namespace {

using Json = nlohmann::ordered_json;

constexpr EmbeddedFile kFiles[] = {
#include "explain/page/page_embedded.inc"
};

// By collective: the get-tuple-element of its array in a merged one, otherwise the collective itself.
std::vector<const Instruction*> ResultsOf(absl::Span<const CollectiveRecord> collectives) {
  absl::flat_hash_map<const Computation*, MergedCollectives> merged;
  std::vector<const Instruction*> results;
  for (const CollectiveRecord& record : collectives) {
    const Computation* computation = record.op->computation();
    const auto it = merged.try_emplace(computation, *computation).first;
    const auto elements = it->second.ElementsOf(*record.op);
    const Instruction* element =
        record.array < static_cast<int>(elements.size()) ? elements[record.array] : nullptr;
    results.push_back(element != nullptr ? element : record.op);
  }
  return results;
}

Json MemoryJson(const Module& module) {
  const MemoryBytes memory = ComputeStatistics(module).device;
  return {{"parameters", memory.parameters}, {"outputs", memory.outputs}, {"peak", memory.peak}};
}

Json RecordJson(const CollectiveRecord& record, const PredictedTimes* times) {
  Json json = {{"opcode", record.opcode},
               {"instruction", record.instruction},
               {"cause", record.cause},
               {"source", record.source},
               {"group", record.group_size},
               {"operand_bytes", SaturatingMultiply(record.operand_bytes, record.executions.times)},
               {"sent_bytes", SaturatingMultiply(record.sent_bytes, record.executions.times)}};
  if (times != nullptr) {
    const auto predicted = times->of_collective.find(record.op);
    json["seconds"] = predicted == times->of_collective.end() ? 0 : predicted->second * record.share;
  }
  return json;
}

// In the order in which they need each other.
std::string Scripts() {
  std::string scripts;
  for (const char* name : {"text.js", "data.js", "parts.js", "search.js", "rows.js", "graph.js", "source.js",
                           "mesh.js", "detail.js", "page.js"}) {
    absl::StrAppend(&scripts, TextOf(kFiles, name), "\n");
  }
  return scripts;
}

}  // namespace

Json ExplainPageJson(const ExplainPage& page) {
  std::vector<const Instruction*> collectives;
  std::vector<const xla::OpMetadata*> metadata;
  for (const CollectiveRecord& record : page.collectives) collectives.push_back(record.op);
  const std::vector<const Instruction*> results = ResultsOf(page.collectives);
  for (const Instruction* result : results) metadata.push_back(result->metadata());
  ProgramSection program = MakeProgramSection(page.module, collectives);
  MeshSection mesh = MakeMeshSection(page.module, page.global, page.num_partitions, collectives, page.inside);
  SourceSection source = MakeSourceSection(page.module, page.collectives, metadata, page.shows_sources);
  const auto place_of = [&](const Instruction* instruction) {
    const auto place = program.place.find(instruction);
    return place == program.place.end() ? -1 : place->second;
  };

  Json records = Json::array();
  for (size_t i = 0; i < page.collectives.size(); ++i) {
    Json json = RecordJson(page.collectives[i], page.times);
    json["op"] = place_of(collectives[i]);
    json["array"] = page.collectives[i].array;
    json["result"] = place_of(results[i]);
    json["groups"] = mesh.groups[i];
    json["stack"] = source.stack_of[i];
    json["frame"] = source.frame_of[i];
    records.push_back(std::move(json));
  }
  Json rows = Json::array();
  for (const ExplainedRow& row : page.explanation.rows) rows.push_back(row.records);
  return {{"title", page.title},
          {"version", kVersion},
          {"summary", SummaryLine(page.explanation, page.num_partitions)},
          {"made_up_axes", page.made_up_axes},
          {"memory", MemoryJson(page.module)},
          {"explanation",
           Json::parse(ExplainJson(page.explanation, page.num_partitions, page.times, /*table=*/""))},
          {"rows", std::move(rows)},
          {"records", std::move(records)},
          {"stacks", std::move(source.stacks)},
          {"files", std::move(source.files)},
          {"mesh", std::move(mesh.json)},
          {"program", std::move(program.json)}};
}

std::string ExplainPageText(const ExplainPage& page) {
  const std::string json =
      ExplainPageJson(page).dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
  return FillTemplate(TextOf(kFiles, "page.html"),
                      {{"/*STYLE*/", absl::StrCat(TextOf(kFiles, "base.css"), TextOf(kFiles, "page.css"))},
                       {"/*THEME*/", std::string(TextOf(kFiles, "theme.js"))},
                       {"/*DAGRE*/", std::string(TextOf(kFiles, "dagre.min.js"))},
                       {"/*SCRIPT*/", Scripts()},
                       {"/*DATA*/", ScriptSafe(json)}});
}

}  // namespace toroid
