//! The order in which transactions must have happened, as a graph. A serial execution has no cycle.

/// Why one transaction comes before another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dependency {
    /// It wrote the version that the other one overwrote.
    WriteWrite,
    /// It wrote what the other one read.
    WriteRead,
    /// It read what the other one overwrote.
    ReadWrite,
    /// It ended before the other one began.
    Time,
}

/// Nodes are numbers; edges are dependencies.
#[derive(Default)]
pub struct Graph {
    edges: Vec<Vec<(u32, Dependency)>>,
}

/// Nodes in a cycle, each with the reason why it precedes the next; the last precedes the first.
pub type Cycle = Vec<(u32, Dependency)>;

/// How many nodes of a large component are tried for a short cycle.
const MAX_STARTS: usize = 200;

impl Graph {
    pub fn with_nodes(nodes: usize) -> Graph {
        Graph { edges: vec![Vec::new(); nodes] }
    }

    pub fn connect(&mut self, from: u32, to: u32, dependency: Dependency) {
        if from != to {
            self.edges[from as usize].push((to, dependency));
        }
    }

    /// A cycle for each strongly connected component, with the strongest dependencies possible.
    pub fn cycles(&self) -> Vec<Cycle> {
        let components = self.components();
        let mut members: std::collections::BTreeMap<u32, Vec<u32>> = std::collections::BTreeMap::new();
        for (node, component) in components.iter().enumerate() {
            members.entry(*component).or_default().push(node as u32);
        }
        members
            .into_values()
            .filter(|members| members.len() > 1)
            .map(|members| self.cycle(&members, &components))
            .collect()
    }

    fn cycle(&self, members: &[u32], components: &[u32]) -> Cycle {
        use Dependency::{ReadWrite, Time, WriteRead, WriteWrite};
        for weakest in [WriteWrite, WriteRead, ReadWrite, Time] {
            let found = members
                .iter()
                .take(MAX_STARTS)
                .filter_map(|start| self.shortest_cycle(*start, weakest, components));
            if let Some(shortest) = found.min_by_key(Vec::len) {
                return shortest;
            }
        }
        Vec::new()
    }

    /// The shortest path from a node to itself over dependencies up to `weakest`.
    fn shortest_cycle(&self, start: u32, weakest: Dependency, components: &[u32]) -> Option<Cycle> {
        let mut came_from = std::collections::HashMap::new();
        let mut next = std::collections::VecDeque::from([start]);
        while let Some(node) = next.pop_front() {
            for (to, dependency) in &self.edges[node as usize] {
                if *dependency > weakest || components[*to as usize] != components[start as usize] {
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
    fn components(&self) -> Vec<u32> {
        let mut search = Search::new(self.edges.len());
        for root in 0..self.edges.len() {
            if search.order[root] == UNVISITED {
                search.explore(root, &self.edges);
            }
        }
        search.components
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

const UNVISITED: u32 = u32::MAX;

struct Search {
    order: Vec<u32>,
    lowest: Vec<u32>,
    components: Vec<u32>,
    open: Vec<usize>,
    seen: u32,
    closed: u32,
}

impl Search {
    fn new(nodes: usize) -> Search {
        let all = |value| vec![value; nodes];
        Search {
            order: all(UNVISITED),
            lowest: all(0),
            components: all(UNVISITED),
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
            if self.order[to] == UNVISITED {
                self.enter(to);
                path.push((to, 0));
            } else if self.components[to] == UNVISITED {
                self.lowest[node] = self.lowest[node].min(self.order[to]);
            }
        }
    }

    fn leave(&mut self, node: usize, before: Option<usize>) {
        if self.lowest[node] == self.order[node] {
            while let Some(member) = self.open.pop() {
                self.components[member] = self.closed;
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
        let mut graph = Graph::with_nodes(8);
        edges.iter().for_each(|(from, to, dependency)| graph.connect(*from, *to, *dependency));
        graph
    }

    #[test]
    fn an_ordered_graph_has_no_cycle() {
        use Dependency::{ReadWrite, Time, WriteRead};
        let edges = [(0, 1, WriteRead), (1, 2, ReadWrite), (0, 2, Time), (2, 3, Time), (5, 3, WriteRead)];
        assert!(graph(&edges).cycles().is_empty());
        assert!(graph(&[(4, 4, WriteRead)]).cycles().is_empty());
    }

    #[test]
    fn each_component_yields_its_strongest_cycle() {
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
