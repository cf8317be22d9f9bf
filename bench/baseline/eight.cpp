// How far are 8-puzzle boards from 0 1 2 / 3 4 5 / 6 7 8? The usual program: search once from the goal, breadth first,
// keep the distance of every board in a map, and look each board up. Boards are numbers of nine digits.
// The map is ordered, as mostly seen; std::unordered_map would save about a quarter of the time.
//
// stdin: T, then T boards of nine numbers. stdout: for each a line with its distance, -1 where there is none.
#include <cstdio>
#include <map>
#include <queue>
#include <vector>

const int tens[9] = {100000000, 10000000, 1000000, 100000, 10000, 1000, 100, 10, 1};

int main() {
  const std::vector<std::vector<int>> neighbours = {{1, 3}, {0, 2, 4}, {1, 5}, {0, 4, 6}, {1, 3, 5, 7}, {2, 4, 8}, {3, 7}, {4, 6, 8}, {5, 7}};
  std::map<int, int> distance = {{12345678, 0}};
  std::queue<int> open;
  for (open.push(12345678); !open.empty(); open.pop()) {
    const int board = open.front(), next = distance[board] + 1;
    int blank = 0;
    while (board / tens[blank] % 10 != 0) blank++;
    for (int cell : neighbours[blank]) {
      const int piece = board / tens[cell] % 10;
      const int moved = board + piece * (tens[blank] - tens[cell]);
      if (distance.emplace(moved, next).second) open.push(moved);
    }
  }

  int boards;
  if (std::scanf("%d", &boards) != 1) return 1;
  for (; boards > 0; boards--) {
    int board = 0;
    for (int cell = 0, piece; cell < 9; cell++) {
      if (std::scanf("%d", &piece) != 1) return 1;
      board = 10 * board + piece;
    }
    const auto found = distance.find(board);
    std::printf("%d\n", found == distance.end() ? -1 : found->second);
  }
}
