// Which turns of Rotegame's two rings, fewest first and then first in the order 1 2, lead from one 3x4 board to another?
// The usual program: search from both ends, breadth first, always a whole layer of the smaller side, until they meet.
//
// stdin: pairs of boards of 12 numbers to the end. stdout: for each pair the number of turns, and the turns on a line;
// -1 and an empty line where there are none.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <unordered_map>
#include <vector>

using Board = uint64_t;  // the value on cell i in bits 4i to 4i+3, values numbered from 0

// With a turn, cell i takes what stood on cell source[i]: the left ring clockwise, the right ring counter-clockwise.
const int source[2][12] = {{4, 0, 1, 3, 8, 5, 2, 7, 9, 10, 6, 11}, {0, 2, 3, 7, 4, 1, 6, 11, 8, 5, 9, 10}};

// turned turns a ring of a board, or turns it back.
Board turned(Board board, int turn, bool back) {
  Board after = 0;
  for (int i = 0; i < 12; i++) {
    const int from = 4 * source[turn][i], to = 4 * i;
    after |= back ? (board >> to & 15) << from : (board >> from & 15) << to;
  }
  return after;
}

// Way is how a board was come upon: the turn between it and the next board on the way to that side's end.
struct Way {
  Board next;
  short turn, distance;
};

struct Side {
  std::unordered_map<Board, Way> seen;
  std::vector<Board> layer;  // the last, from the start in the order of the ways to them
  short distance = 0;

  explicit Side(Board end) : layer{end} { seen[end] = {end, 0, 0}; }
};

// grow adds a layer to a side: to the goal's a whole one, to the start's no more than to the first board that the goal's
// has seen. It returns whether there is one, which is then all of the layer.
bool grow(Side& side, const Side* goal) {
  std::vector<Board> layer;
  side.distance++;
  for (Board board : side.layer)
    for (short turn = 0; turn < 2; turn++) {
      const Board found = turned(board, turn, !goal);
      const auto [way, fresh] = side.seen.try_emplace(found, Way{board, turn, side.distance});
      if (fresh) layer.push_back(found);
      // From the goal, the least turn that leads one nearer is the one to keep; from the start, the first way found.
      else if (!goal && way->second.distance == side.distance && turn < way->second.turn) way->second = {board, turn, side.distance};
      if (fresh && goal && goal->seen.count(found)) return side.layer = {found}, true;
    }
  side.layer.swap(layer);
  return false;
}

// meet returns whether the sides meet, and the board on the first of the shortest ways where they do.
bool meet(Side& start, Side& goal, Board& board) {
  while (!start.layer.empty() && !goal.layer.empty()) {
    for (Board at : start.layer)
      if (goal.seen.count(at)) return board = at, true;
    while (start.layer.size() <= goal.layer.size() && !start.layer.empty())
      if (grow(start, &goal)) return board = start.layer[0], true;
    grow(goal, nullptr);
  }
  return false;
}

// solve returns whether turns lead from one board to another, and the first of the shortest.
bool solve(Board from, Board to, std::vector<int>& turns) {
  Side start(from), goal(to);
  Board board;
  if (!meet(start, goal, board)) return false;
  for (Board at = board; at != from; at = start.seen[at].next) turns.push_back(start.seen[at].turn);
  std::reverse(turns.begin(), turns.end());
  for (Board at = board; at != to; at = goal.seen[at].next) turns.push_back(goal.seen[at].turn);
  return true;
}

int main() {
  std::ios::sync_with_stdio(false);
  std::cin.tie(nullptr);
  for (std::vector<int> values(24);;) {
    for (int& value : values)
      if (!(std::cin >> value)) return 0;
    std::vector<int> kinds = values;
    std::sort(kinds.begin(), kinds.end());
    kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
    Board boards[2] = {};
    for (int i = 0; i < 24; i++) {
      const Board kind = std::lower_bound(kinds.begin(), kinds.end(), values[i]) - kinds.begin();
      boards[i / 12] |= kind << 4 * (i % 12);
    }
    std::vector<int> turns;
    const bool same = std::is_permutation(values.begin(), values.begin() + 12, values.begin() + 12);
    if (same && solve(boards[0], boards[1], turns)) std::cout << turns.size() << '\n';
    else std::cout << "-1\n";
    for (size_t i = 0; i < turns.size(); i++) std::cout << (i > 0 ? " " : "") << turns[i] + 1;
    std::cout << '\n';
  }
}
