// BUILD: embed "page.html", "page.css", "page.js", "@d3//:d3.min.js"
#include "simulator/report/page.h"

#include "simulator/report/embedded_file.h"
#include "simulator/report/prediction_json.h"

namespace toroid {
namespace {

constexpr EmbeddedFile kFiles[] = {
#include "simulator/report/page_embedded.inc"
};

}  // namespace

std::string PageText(const Prediction& prediction) {
  return FillTemplate(TextOf(kFiles, "page.html"),
                      {{"/*D3*/", std::string(TextOf(kFiles, "d3.min.js"))},
                       {"/*STYLE*/", std::string(TextOf(kFiles, "page.css"))},
                       {"/*SCRIPT*/", std::string(TextOf(kFiles, "page.js"))},
                       {"/*DATA*/", ScriptSafe(JsonText(PageJson(prediction), -1))}});
}

}  // namespace toroid
