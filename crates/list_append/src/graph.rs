//! Which transaction must come before which, and cycles in that: nothing serial has one.

/// Why one transaction comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dependency {
    /// It wrote the version that the other one overwrote.
    WriteWrite,
    /// It wrote what the other one read.
    WriteRead,
    /// It read what the other one overwrote.
    ReadWrite,
    /// It had ended before the other one began.
    Time,
}

/// Nodes are numbers; edges say what leads from one to another.
#[derive(Default)]
pub struct Graph {
    edges: Vec<Vec<(u32, Dependency)>>,
}

/// Nodes in a circle, each with why it comes before the next; the last one comes before the first.
pub type Cycle = Vec<(u32, Dependency)>;

/// In a large knot, so many places are tried for a short cycle.
const TRIES: usize = 200;

impl Graph {
    pub fn of_nodes(nodes: usize) -> Graph {
        Graph { edges: vec![Vec::new(); nodes] }
    }

    pub fn connect(&mut self, from: u32, to: u32, dependency: Dependency) {
        if from != to {
            self.edges[from as usize].push((to, dependency));
        }
    }

    /// A cycle for each knot of nodes that reach each other, with as few kinds of dependency as one has.
    pub fn cycles(&self) -> Vec<Cycle> {
        let knots = self.knots();
        let mut members: std::collections::BTreeMap<u32, Vec<u32>> = std::collections::BTreeMap::new();
        for (node, knot) in knots.iter().enumerate() {
            members.entry(*knot).or_default().push(node as u32);
        }
        members
            .into_values()
            .filter(|members| members.len() > 1)
            .map(|members| self.cycle(&members, &knots))
            .collect()
    }

    fn cycle(&self, members: &[u32], knots: &[u32]) -> Cycle {
        use Dependency::{ReadWrite, Time, WriteRead, WriteWrite};
        for weakest in [WriteWrite, WriteRead, ReadWrite, Time] {
            let found = members.iter().take(TRIES).filter_map(|start| self.way_back(*start, weakest, knots));
            if let Some(shortest) = found.min_by_key(Vec::len) {
                return shortest;
            }
        }
        Vec::new()
    }

    /// The shortest way from a node to itself over dependencies up to `weakest`.
    fn way_back(&self, start: u32, weakest: Dependency, knots: &[u32]) -> Option<Cycle> {
        let mut came_from = std::collections::HashMap::new();
        let mut next = std::collections::VecDeque::from([start]);
        while let Some(node) = next.pop_front() {
            for (to, dependency) in &self.edges[node as usize] {
                if *dependency > weakest || knots[*to as usize] != knots[start as usize] {
                    continue;
                }
                if *to == start {
                    return Some(unwind(start, (node, *dependency), &came_from));
                }
                came_from.entry(*to).or_insert_with(|| {
                    next.push_back(*to);
                    (node, *dependency)
                });
            }
        }
        None
    }

    /// The number of each node's strongly connected component (Tarjan's algorithm, without recursion).
    fn knots(&self) -> Vec<u32> {
        let mut search = Search::of(self.edges.len());
        for root in 0..self.edges.len() {
            if search.order[root] == UNSEEN {
                search.explore(root, &self.edges);
            }
        }
        search.knots
    }
}

fn unwind(
    start: u32,
    last: (u32, Dependency),
    came_from: &std::collections::HashMap<u32, (u32, Dependency)>,
) -> Cycle {
    let mut cycle = vec![last];
    let mut node = last.0;
    while node != start {
        let Some((before, dependency)) = came_from.get(&node) else { break };
        cycle.push((*before, *dependency));
        node = *before;
    }
    cycle.reverse();
    cycle
}

const UNSEEN: u32 = u32::MAX;

struct Search {
    order: Vec<u32>,
    lowest: Vec<u32>,
    knots: Vec<u32>,
    open: Vec<usize>,
    seen: u32,
    closed: u32,
}

impl Search {
    fn of(nodes: usize) -> Search {
        let all = |value| vec![value; nodes];
        Search {
            order: all(UNSEEN),
            lowest: all(0),
            knots: all(UNSEEN),
            open: Vec::new(),
            seen: 0,
            closed: 0,
        }
    }

    fn enter(&mut self, node: usize) {
        self.order[node] = self.seen;
        self.lowest[node] = self.seen;
        self.seen += 1;
        self.open.push(node);
    }

    fn explore(&mut self, root: usize, edges: &[Vec<(u32, Dependency)>]) {
        self.enter(root);
        let mut path = vec![(root, 0)];
        while let Some((node, edge)) = path.last_mut() {
            let node = *node;
            let Some((to, _)) = edges[node].get(*edge) else {
                path.pop();
                self.leave(node, path.last().map(|(before, _)| *before));
                continue;
            };
            *edge += 1;
            let to = *to as usize;
            if self.order[to] == UNSEEN {
                self.enter(to);
                path.push((to, 0));
            } else if self.knots[to] == UNSEEN {
                self.lowest[node] = self.lowest[node].min(self.order[to]);
            }
        }
    }

    fn leave(&mut self, node: usize, before: Option<usize>) {
        if self.lowest[node] == self.order[node] {
            while let Some(member) = self.open.pop() {
                self.knots[member] = self.closed;
                if member == node {
                    break;
                }
            }
            self.closed += 1;
        }
        if let Some(before) = before {
            self.lowest[before] = self.lowest[before].min(self.lowest[node]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(edges: &[(u32, u32, Dependency)]) -> Graph {
        let mut graph = Graph::of_nodes(8);
        edges.iter().for_each(|(from, to, dependency)| graph.connect(*from, *to, *dependency));
        graph
    }

    #[test]
    fn what_has_an_order_has_no_cycle() {
        use Dependency::{ReadWrite, Time, WriteRead};
        let edges = [(0, 1, WriteRead), (1, 2, ReadWrite), (0, 2, Time), (2, 3, Time), (5, 3, WriteRead)];
        assert!(graph(&edges).cycles().is_empty());
        assert!(graph(&[(4, 4, WriteRead)]).cycles().is_empty());
    }

    #[test]
    fn each_knot_gives_its_strongest_cycle() {
        use Dependency::{ReadWrite, Time, WriteRead, WriteWrite};
        let edges = [
            (0, 1, WriteWrite),
            (1, 2, WriteRead),
            (2, 0, WriteRead),
            (1, 0, Time),
            (2, 3, ReadWrite),
            (4, 5, ReadWrite),
            (5, 4, ReadWrite),
        ];
        let cycles = graph(&edges).cycles();
        assert_eq!(cycles.len(), 2);
        assert!(cycles.contains(&vec![(0, WriteWrite), (1, WriteRead), (2, WriteRead)]));
        assert!(cycles.contains(&vec![(4, ReadWrite), (5, ReadWrite)]));
    }
}
