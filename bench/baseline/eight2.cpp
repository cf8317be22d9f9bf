// Which moves of the blank, fewest first and then first in the order d l r u, lead from one 8-puzzle board to another?
// The usual program: rename the pieces so that the start board is in order. That leaves nine start boards, one for each
// cell of the blank; search from each, breadth first, the moves in order, and remember how every board was come upon first.
//
// stdin: T, then T pairs of words such as 12X453786. stdout: for the k-th pair "Case k: N" and the N moves on a line.
#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <vector>

using Board = std::array<char, 9>;  // the piece on each cell, 0 is the blank

// number gives every board its place among the 9! in lexicographic order.
int number(const Board& board) {
  int n = 0;
  for (int i = 0; i < 9; i++) {
    int less = 0;
    for (int j = i + 1; j < 9; j++) less += board[j] < board[i];
    n = n * (9 - i) + less;
  }
  return n;
}

// Found says how a board was come upon: by a move, from the board of another number, after so many moves.
struct Found {
  int from = -1, moves = -1;
  char move = ' ';
};

std::vector<Found> search(const Board& start) {
  std::vector<Found> found(362880);
  std::vector<Board> open = {start};
  found[number(start)].moves = 0;
  for (size_t head = 0; head < open.size(); head++) {
    const Board board = open[head];
    const int here = number(board);
    const int blank = std::find(board.begin(), board.end(), 0) - board.begin();
    const auto move = [&](char name, bool possible, int cell) {
      if (!possible) return;
      Board moved = board;
      std::swap(moved[blank], moved[cell]);
      Found& there = found[number(moved)];
      if (there.moves >= 0) return;
      there = {here, found[here].moves + 1, name};
      open.push_back(moved);
    };
    move('d', blank < 6, blank + 3);
    move('l', blank % 3 > 0, blank - 1);
    move('r', blank % 3 < 2, blank + 1);
    move('u', blank > 2, blank - 3);
  }
  return found;
}

int main() {
  std::ios::sync_with_stdio(false);
  std::cin.tie(nullptr);

  std::vector<std::vector<Found>> tables;
  for (int blank = 0; blank < 9; blank++) {
    Board start;
    for (int cell = 0, piece = 1; cell < 9; cell++) start[cell] = cell == blank ? 0 : piece++;
    tables.push_back(search(start));
  }

  int pairs;
  std::cin >> pairs;
  for (int k = 1; k <= pairs; k++) {
    std::string start, goal, moves;
    std::cin >> start >> goal;
    int renamed[128] = {};
    int piece = 1;
    for (char c : start) renamed[int(c)] = c == 'X' ? 0 : piece++;
    Board board;
    for (int cell = 0; cell < 9; cell++) board[cell] = renamed[int(goal[cell])];

    const auto& table = tables[start.find('X')];
    const Found* at = &table[number(board)];
    std::cout << "Case " << k << ": " << at->moves << '\n';
    for (; at->from >= 0; at = &table[at->from]) moves += at->move;
    std::reverse(moves.begin(), moves.end());
    std::cout << moves << '\n';
  }
}
