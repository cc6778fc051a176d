package zones

import (
	"slices"

	"github.com/guardrails-provider/guardrails-provider/protocol"
)

// speaking collects the zones that speak for a place: every protected one that
// matches; else the "." zones, if the place is inside the cwd; else those with
// the longest literal prefix. A zone that speaks may still have no opinion.
func (s *Set) speaking(p place, around *surroundings, zones []*zone) (speak []*zone, protected bool) {
	zones = s.protectors(p, around, zones)
	if len(zones) > 0 {
		return zones, true
	}
	return s.openZones(p, around, zones), false
}

// Protected returns how many of the zones are protected.
func (s *Set) Protected() int {
	zones := slices.Clone(s.protected.cwd)
	for _, ix := range []*index{&s.protected.absolute, &s.protected.homely} {
		for _, g := range ix.guards { // one at least for every path and pattern
			zones = appendOnce(zones, g.zone)
		}
	}
	return len(zones)
}

// protectors appends every protected zone that matches.
func (s *Set) protectors(p place, around *surroundings, zones []*zone) []*zone {
	c := &s.protected
	add := func(h hit) { zones = appendOnce(zones, h.zone) }
	if len(c.cwd) > 0 && around.inCwd(p) {
		zones = append(zones, c.cwd...)
	}
	c.absolute.all(p, add)
	// ~ is both homes, the check's and the policy's: a caller can't move what is
	// protected by naming another home.
	for _, home := range around.homes() {
		if p.within(home) {
			c.homely.all(p[len(home):], add)
		}
	}
	return zones
}

// openZones appends the zones that are not protected and speak for p.
func (s *Set) openZones(p place, around *surroundings, zones []*zone) []*zone {
	c := &s.open
	if len(c.cwd) > 0 && around.inCwd(p) {
		return append(zones, c.cwd...)
	}
	longest := -1
	take := func(h hit, offset int) {
		length := h.length + offset
		if length > longest {
			longest = length
			zones = zones[:0]
		}
		if length == longest {
			zones = appendOnce(zones, h.zone)
		}
	}
	c.absolute.nearest(p, func(h hit) { take(h, 0) })
	if around.hasHome && p.within(around.home) {
		c.homely.nearest(p[len(around.home):], func(h hit) { take(h, len(around.home)) })
	}
	for _, home := range around.realHomes[:min(1, len(around.realHomes))] {
		if around.hasHome && p.within(home) {
			c.homely.nearest(p[len(home):], func(h hit) { take(h, len(home)) })
		}
	}
	return zones
}

func appendOnce(zones []*zone, z *zone) []*zone {
	for i := range zones {
		if zones[i] == z {
			return zones
		}
	}
	return append(zones, z)
}

// below appends the protected zones whose literal path lies below the folder p.
func (s *Set) below(p place, around *surroundings, zones []*zone) []*zone {
	c := &s.protected
	add := func(h hit) { zones = appendOnce(zones, h.zone) }
	if len(c.cwd) > 0 && around.hasCwd && around.cwd != p && around.cwd.within(p) {
		zones = append(zones, c.cwd...)
	}
	c.absolute.beneath(p, add)
	for _, home := range around.homes() {
		switch {
		case p.within(home):
			c.homely.beneath(p[len(home):], add)
		case home.within(p): // the folder holds the whole home
			for _, l := range c.homely.below {
				add(hit{l.zone, 0})
			}
		}
	}
	return zones
}

// strictest returns the zone whose opinion on the operation is the strictest;
// nil where none has an opinion.
func strictest(zones []*zone, op int) *zone {
	var found *zone
	for _, z := range zones {
		if v := z.files[op]; v != "" && (found == nil || v.Stricter(found.files[op])) {
			found = z
		}
	}
	return found
}

// around reads the cwd and the homes of a check. A cwd or a home that is
// malformed is as good as missing, and says so where it is needed.
func (s *Set) around(c *protocol.Context) surroundings {
	a := surroundings{otherHome: s.home, hasOtherHome: s.hasHome}
	if c.Home != "" {
		if a.home, a.homeWhy = absolute(c.Home); a.homeWhy == "" {
			a.hasHome, a.rawHome = true, c.Home
		} else {
			a.homeWhy = "context.home " + a.homeWhy
		}
	} else if s.hasHome {
		a.home, a.hasHome, a.rawHome = s.home, true, string(s.home)
	}
	if c.Cwd != "" {
		// A cwd may begin with ~.
		if a.cwd, a.cwdWhy = a.readPath(c.Cwd); a.cwdWhy == "" {
			a.hasCwd, a.rawCwd = true, a.raw(c.Cwd)
		} else {
			a.cwdWhy = "context.cwd " + a.cwdWhy
		}
	}
	if s.resolve != nil {
		s.resolveAround(&a)
	}
	return a
}

// resolveAround resolves the cwd and the homes. What can't be resolved is left
// out: the targets below it fail for themselves.
func (s *Set) resolveAround(a *surroundings) {
	if a.hasCwd {
		if real, err := s.resolve(a.rawCwd); err == nil {
			a.realCwd, a.hasRealCwd = real, true
		}
	}
	if a.hasHome { // first: open zones look at this one only
		if real, err := s.resolve(a.rawHome); err == nil {
			a.realHomes = append(a.realHomes, real)
		}
	}
	if a.hasOtherHome {
		if real, err := s.resolve(a.otherHome.String()); err == nil {
			a.realHomes = append(a.realHomes, real)
		}
	}
}

// absolute reads a path that nothing can make absolute.
func absolute(text string) (place, string) {
	if problem := malformed(text); problem != "" {
		return "", problem
	}
	if text[0] != '/' {
		return "", "is not an absolute path"
	}
	return cleaned(text)
}

// inCwd says whether p is in the cwd.
func (a *surroundings) inCwd(p place) bool {
	return a.hasCwd && p.within(a.cwd) || a.hasRealCwd && p.within(a.realCwd)
}

// homes returns the check's home and the policy's, the ones that are known, and
// where their links lead.
func (a *surroundings) homes() []place {
	homes := a.homesBuffer[:0]
	if a.hasHome {
		homes = append(homes, a.home)
	}
	if a.hasOtherHome && (!a.hasHome || a.otherHome != a.home) {
		homes = append(homes, a.otherHome)
	}
	for _, real := range a.realHomes {
		if !slices.Contains(homes, real) {
			homes = append(homes, real)
		}
	}
	return homes
}
