// How rowanctl shows things to people. Names are escaped: they may hold anything.
#ifndef ROWAN_SERVER_ADMIN_RENDER_H_
#define ROWAN_SERVER_ADMIN_RENDER_H_

#include <string>
#include <vector>

#include "proto/admin.pb.h"
#include "proto/coordinator.pb.h"

namespace rowan {

// Lines of cells under headings, columns as wide as their widest cell, numbers to the right. Every line ends in a
// newline and in no blank. REQUIRES: all rows have as many cells as `heading`.
std::string RenderTable(const std::vector<std::string>& heading, const std::vector<std::vector<std::string>>& rows);

std::string Render(const proto::ClusterStatus& status);
std::string Render(const proto::TablesReport& report);
std::string Render(const proto::ShardsReport& report);
std::string Render(const proto::RowReport& report);

}  // namespace rowan

#endif  // ROWAN_SERVER_ADMIN_RENDER_H_
