// Copyright The berth Authors.
// SPDX-License-Identifier: Apache-2.0

package containerd

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"slices"
	"strings"
)

// rule is one iptables rule in the words of `iptables -S`, without table and chain.
type rule struct {
	table, chain string
	spec         string
	// first puts the rule before all others of its chain.
	first bool
}

// ensureRules makes the node's rules those that the pod range needs.
func (r *Runtime) ensureRules(ctx context.Context, podCIDR netip.Prefix) error {
	current, err := listRules(ctx)
	if err != nil {
		return err
	}
	wanted := r.wantedRules(podCIDR, current)
	for _, c := range planRules(ownRules(current, r.name()), wanted) {
		if err := iptables(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// removeRules removes the node's rules, and the host ports of pods that were killed
// before the portmap plugin could take them back.
func (r *Runtime) removeRules(ctx context.Context) error {
	current, err := listRules(ctx)
	if errors.Is(err, exec.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	commands := planRules(ownRules(current, r.name()), nil)
	commands = append(commands, hostPortLeftovers(current, r.name())...)
	var errs []error
	for _, c := range commands {
		errs = append(errs, iptables(ctx, c))
	}
	return errors.Join(errs...)
}

// wantedRules are the node's rules: what leaves the cluster carries the machine's
// address, and where forwarding is forbidden by default the bridge is an exception.
func (r *Runtime) wantedRules(podCIDR netip.Prefix, current []rule) []rule {
	inside := podCIDR
	if r.cfg.ClusterCIDR.IsValid() {
		inside = r.cfg.ClusterCIDR.Masked()
	}
	comment := "-m comment --comment " + r.name()
	wanted := []rule{{
		table: "nat", chain: "POSTROUTING",
		spec: fmt.Sprintf("-s %s ! -d %s %s -j MASQUERADE", podCIDR, inside, comment),
	}}
	if !slices.Contains(current, rule{table: "filter", chain: "FORWARD", spec: "-P DROP"}) {
		return wanted
	}
	for _, direction := range []string{"-i", "-o"} {
		wanted = append(wanted, rule{
			table: "filter", chain: "FORWARD", first: true,
			spec: fmt.Sprintf("%s %s %s -j ACCEPT", direction, r.bridge(), comment),
		})
	}
	return wanted
}

// ownRules are those that carry the node's name as their comment.
func ownRules(current []rule, name string) []rule {
	return slices.DeleteFunc(slices.Clone(current), func(c rule) bool {
		return !strings.Contains(c.spec+" ", "--comment "+name+" ")
	})
}

// planRules are the iptables arguments that turn own into wanted.
func planRules(own, wanted []rule) [][]string {
	same := func(a rule) func(rule) bool {
		return func(b rule) bool { return a.table == b.table && a.chain == b.chain && a.spec == b.spec }
	}
	var commands [][]string
	for _, o := range own {
		if !slices.ContainsFunc(wanted, same(o)) {
			commands = append(commands, o.command("-D"))
		}
	}
	for _, w := range wanted {
		if slices.ContainsFunc(own, same(w)) {
			continue
		}
		if w.first {
			commands = append(commands, w.command("-I"))
		} else {
			commands = append(commands, w.command("-A"))
		}
	}
	return commands
}

func (r rule) command(verb string) []string {
	return append([]string{"-t", r.table, verb, r.chain}, strings.Fields(r.spec)...)
}

// hostPorts is the chain of the portmap plugin, which it shares with other networks
// of the machine.
const hostPorts = "CNI-HOSTPORT-DNAT"

// hostPortLeftovers remove the chains of this network's pods from the portmap
// plugin's.
func hostPortLeftovers(current []rule, network string) [][]string {
	var commands [][]string
	number := 0
	for _, c := range current {
		if c.table != "nat" || c.chain != hostPorts {
			continue
		}
		number++
		chain, ok := hostPortChain(c, `dnat name: \"`+network+`\"`)
		if !ok {
			continue
		}
		commands = append(commands,
			// Rules are deleted by number, because their comments hold spaces.
			[]string{"-t", "nat", "-D", hostPorts, fmt.Sprint(number)},
			[]string{"-t", "nat", "-F", chain},
			[]string{"-t", "nat", "-X", chain})
		number--
	}
	return commands
}

// hostPortChain is where a rule of the portmap plugin with that comment leads to.
func hostPortChain(c rule, comment string) (chain string, ok bool) {
	_, chain, ok = strings.Cut(c.spec, "-j ")
	return chain, ok && c.table == "nat" && c.chain == hostPorts && strings.Contains(c.spec, comment)
}

// closeHostPorts empties the chains of a sandbox's host ports. What leads there stays
// until the node is removed, as its number may mean another rule by now.
func (r *Runtime) closeHostPorts(ctx context.Context, sandbox string) error {
	current, err := listRules(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range current {
		if chain, ok := hostPortChain(c, `dnat name: \"`+r.name()+`\" id: \"`+sandbox+`\"`); ok {
			errs = append(errs, iptables(ctx, []string{"-t", "nat", "-F", chain}))
		}
	}
	return errors.Join(errs...)
}

// listRules reads the chains' policies and rules of the tables that are used.
func listRules(ctx context.Context) ([]rule, error) {
	var rules []rule
	for _, table := range []string{"nat", "filter"} {
		out, err := runIptables(ctx, "-t", table, "-S")
		if err != nil {
			return nil, err
		}
		rules = append(rules, parseRules(table, out)...)
	}
	return rules, nil
}

// parseRules reads `iptables -S`. A chain's policy becomes a rule "-P DROP".
func parseRules(table, listing string) []rule {
	var rules []rule
	for line := range strings.Lines(listing) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		chain, spec, _ := strings.Cut(rest, " ")
		switch verb {
		case "-A":
			rules = append(rules, rule{table: table, chain: chain, spec: spec})
		case "-P":
			rules = append(rules, rule{table: table, chain: chain, spec: "-P " + spec})
		}
	}
	return rules
}

func iptables(ctx context.Context, args []string) error {
	_, err := runIptables(ctx, args...)
	return err
}

// runIptables waits for the lock that iptables programs share.
func runIptables(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "iptables", append([]string{"-w", "10"}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("iptables is not installed; the pod network needs it: %w", err)
	}
	if err != nil {
		return "", fmt.Errorf("iptables %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}
