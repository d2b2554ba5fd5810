import { BlockList } from 'node:net'
import { describe, expect, it } from 'vitest'
import { chartTools, EXAMPLES, type Manifest, ofKind, podsOf, render } from './rendered.ts'

const { helm } = chartTools()

interface Peer {
  ipBlock?: { cidr: string; except?: string[] }
  podSelector?: { matchLabels?: Record<string, string> }
  namespaceSelector?: { matchLabels?: Record<string, string> }
}
interface Rule {
  to?: Peer[]
  from?: Peer[]
  ports?: { port: number; protocol: string }[]
}
interface Policy {
  podSelector: { matchLabels: Record<string, string> }
  policyTypes: string[]
  ingress?: Rule[]
  egress?: Rule[]
}

const policiesOf = (manifests: readonly Manifest[]): Policy[] =>
  ofKind(manifests, 'NetworkPolicy').map(({ spec }) => spec as unknown as Policy)

const own = (component: string): Record<string, string> => ({
  'app.kubernetes.io/name': 'platform',
  'app.kubernetes.io/instance': 'acme',
  'app.kubernetes.io/component': component,
})
const fits = (wanted: Record<string, string> = {}, labels: Record<string, string>) =>
  Object.entries(wanted).every(([name, value]) => labels[name] === value)

function isInside(address: string, cidr: string): boolean {
  const [net = '', bits = ''] = cidr.split('/')
  const family = (text: string) => (text.includes(':') ? 'ipv6' : 'ipv4')
  if (family(net) !== family(address)) return false
  const list = new BlockList()
  list.addSubnet(net, Number(bits), family(net))
  return list.check(address, family(address))
}

/** Where a pod would go: an address, or a pod of this release by component, and a port. */
interface Target {
  address?: string
  component?: string
  port: number
}

/** What Kubernetes decides: a pod that a policy selects may do what the rules of all such policies allow together. */
function allows(policies: readonly Policy[], component: string, { address, component: other, port }: Target): boolean {
  const chosen = policies.filter(
    ({ podSelector, policyTypes }) => policyTypes.includes('Egress') && fits(podSelector.matchLabels, own(component)),
  )
  if (chosen.length === 0) return true
  return chosen
    .flatMap(({ egress = [] }) => egress)
    .some(({ to, ports }) => {
      if (ports && !ports.some((each) => each.port === port && each.protocol === 'TCP')) return false
      if (!to) return true
      return to.some(({ ipBlock, podSelector, namespaceSelector }) => {
        if (ipBlock && address)
          return isInside(address, ipBlock.cidr) && !ipBlock.except?.some((cidr) => isInside(address, cidr))
        if (podSelector && !namespaceSelector && other) return fits(podSelector.matchLabels, own(other))
        return false
      })
    })
}

/** What may come in at a port: the components of this release. */
function visitorsOf(policies: readonly Policy[], component: string, port: number, among: string[]): string[] {
  const rules = policies
    .filter(({ podSelector }) => fits(podSelector.matchLabels, own(component)))
    .flatMap(({ ingress = [] }) => ingress)
    .filter(({ ports }) => ports?.some((each) => each.port === port))
  return among.filter((visitor) =>
    rules.some(({ from = [{ podSelector: {} }] }) =>
      from.some(({ podSelector, namespaceSelector }) =>
        podSelector && !namespaceSelector ? fits(podSelector.matchLabels, own(visitor)) : false,
      ),
    ),
  )
}

const DATABASE = { address: '10.20.0.10', port: 5432 }
const PUBLIC = { address: '8.8.8.8', port: 443 }
const METADATA = { address: '169.254.169.254', port: 80 }

describe.each(EXAMPLES)('the policies of %s', async (name) => {
  const manifests = await render(helm, name)
  const policies = policiesOf(manifests)

  it('close every pod in both directions', () => {
    for (const component of podsOf(manifests).keys()) {
      const closed = policies.filter(({ podSelector }) => fits(podSelector.matchLabels, own(component)))
      expect(closed.length).toBeGreaterThan(1)
      expect(closed.every(({ policyTypes }) => policyTypes.join() === 'Ingress,Egress')).toBe(true)
    }
  })

  it('let nothing reach the metadata of a cloud, nor other ports of public addresses', () => {
    for (const component of podsOf(manifests).keys()) {
      expect(allows(policies, component, METADATA)).toBe(false)
      expect(allows(policies, component, { address: 'fd00:ec2::254', port: 80 })).toBe(false)
      expect(allows(policies, component, { address: '8.8.8.8', port: 25 })).toBe(false)
    }
  })
})

describe('the policies of a network with named addresses', async () => {
  const policies = policiesOf(await render(helm, 'restricted'))
  const all = ['core', 'worker', 'iac', 'authz', 'mapping', 'notifications']

  it('let core and worker reach the database, and nothing else', () => {
    expect(all.filter((component) => allows(policies, component, DATABASE))).toEqual(['core', 'worker'])
    expect(all.filter((component) => allows(policies, component, { address: '10.20.0.11', port: 5432 }))).toEqual([])
  })

  it('let the engine reach public addresses and the registry that is named, and neither core nor sidecars', () => {
    expect(allows(policies, 'iac', PUBLIC)).toBe(true)
    expect(allows(policies, 'iac', { address: '10.20.0.30', port: 443 })).toBe(true)
    expect(allows(policies, 'iac', { address: '10.20.0.20', port: 443 })).toBe(false)
    for (const [component, port] of [
      ['core', 8000],
      ['worker', 9100],
      ['authz', 8083],
      ['iac', 8082],
    ] as const)
      expect([component, allows(policies, 'iac', { component, port })]).toEqual([component, false])
  })

  it('let the worker alone reach the engine', () => {
    expect(all.filter((component) => allows(policies, component, { component: 'iac', port: 8082 }))).toEqual(['worker'])
    expect(visitorsOf(policies, 'iac', 8082, all)).toEqual(['worker'])
    expect(visitorsOf(policies, 'authz', 8083, all)).toEqual(['core', 'worker'])
  })

  it('let sidecars reach nothing, but notifications their channel', () => {
    expect(all.slice(3).filter((component) => allows(policies, component, PUBLIC))).toEqual(['notifications'])
  })

  it('that are off are not there', async () => {
    expect(policiesOf(await render(helm, 'restricted', ['networkPolicies.enabled=false']))).toEqual([])
  })
})
