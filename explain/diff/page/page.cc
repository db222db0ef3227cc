// BUILD: embed "page.html", "page.css", "rows.js", "page.js", "//explain/page:parts.js", "//hlo/page:base.css", "//hlo/page:theme.js", "//hlo/page:text.js"
#include "explain/diff/page/page.h"

#include "absl/strings/str_cat.h"
#include "explain/diff/diff_json.h"
#include "hlo/base/version.h"
#include "hlo/page/embedded_file.h"
#include "nlohmann/json.hpp"

namespace toroid {
namespace {

using Json = nlohmann::ordered_json;

constexpr EmbeddedFile kFiles[] = {
#include "explain/diff/page/page_embedded.inc"
};

constexpr char kData[] = "const data = JSON.parse(document.getElementById('toroid-data').textContent);\n";

}  // namespace

std::string DiffPageText(const ProgramDiff& diff) {
  Json json = Json::parse(DiffJson(diff, /*table=*/""));
  json["version"] = kVersion;
  std::string scripts = absl::StrCat(TextOf(kFiles, "text.js"), "\n", kData);
  for (const char* name : {"parts.js", "rows.js", "page.js"})
    absl::StrAppend(&scripts, TextOf(kFiles, name), "\n");
  return FillTemplate(
      TextOf(kFiles, "page.html"),
      {{"/*STYLE*/", absl::StrCat(TextOf(kFiles, "base.css"), TextOf(kFiles, "page.css"))},
       {"/*THEME*/", std::string(TextOf(kFiles, "theme.js"))},
       {"/*SCRIPT*/", scripts},
       {"/*DATA*/", ScriptSafe(json.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace))}});
}

}  // namespace toroid
