// BUILD: embed "page.html", "page.css", "page_common.js", "page_overview.js", "page_timeline.js", "page_mesh.js", "page_roofline.js", "page_memory.js", "page_table.js", "page.js", "//hlo/page:base.css", "//hlo/page:theme.js", "//hlo/page:text.js", "@d3//:d3.min.js"
#include "simulator/report/page.h"

#include "absl/strings/str_cat.h"
#include "hlo/page/embedded_file.h"
#include "simulator/report/prediction_json.h"

namespace toroid {
namespace {

constexpr EmbeddedFile kFiles[] = {
#include "simulator/report/page_embedded.inc"
};

// In the order in which they need each other.
std::string Scripts() {
  std::string scripts;
  for (const char* name :
       {"text.js", "page_common.js", "page_overview.js", "page_timeline.js", "page_mesh.js",
        "page_roofline.js", "page_memory.js", "page_table.js", "page.js"}) {
    absl::StrAppend(&scripts, TextOf(kFiles, name), "\n");
  }
  return scripts;
}

}  // namespace

std::string PageText(const Prediction& prediction) {
  return FillTemplate(TextOf(kFiles, "page.html"),
                      {{"/*D3*/", std::string(TextOf(kFiles, "d3.min.js"))},
                       {"/*STYLE*/", absl::StrCat(TextOf(kFiles, "base.css"), TextOf(kFiles, "page.css"))},
                       {"/*THEME*/", std::string(TextOf(kFiles, "theme.js"))},
                       {"/*SCRIPT*/", Scripts()},
                       {"/*DATA*/", ScriptSafe(JsonText(PageJson(prediction), -1))}});
}

}  // namespace toroid
