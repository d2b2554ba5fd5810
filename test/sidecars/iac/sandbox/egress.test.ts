import { describe, expect, it } from 'vitest'
import {
  allowedRules,
  closedRules,
  hostEntries,
  isLoopback,
  ownNetworks,
  parseEgressEntry,
  proxyEntries,
} from '../../../../sidecars/iac/sandbox/egress.ts'

describe('an entry of the allow-list', () => {
  it.each([
    ['10.0.0.0/8', { target: '10.0.0.0/8', port: null }],
    ['10.1.2.3:9000', { target: '10.1.2.3', port: 9000 }],
    ['10.1.0.0/16:443', { target: '10.1.0.0/16', port: 443 }],
    ['[fd00::7]:9000', { target: 'fd00::7', port: 9000 }],
    ['fd00::/8', { target: 'fd00::/8', port: null }],
    ['Store.Internal:9000', { target: 'store.internal', port: 9000 }],
    ['localhost:4566', { target: 'localhost', port: 4566 }],
  ])('%s', (text, entry) => {
    expect(parseEgressEntry(text)).toEqual(entry)
  })

  it.each([
    '',
    'http://store',
    '10.0.0.0/33',
    'store/24',
    'a b',
    '10.0.0.1:0',
    '10.0.0.1:70000',
    'fd00::/129',
    '-x',
    '10.0.0.1:90:90',
  ])('is refused: %s', (text) => {
    expect(parseEgressEntry(text)).toBeTypeOf('string')
  })

  it.each(['127.0.0.1', 'localhost', '127.9.9.9', '[::1]', '127.0.0.0/8'])('needs a port on loopback: %s', (text) => {
    expect(parseEgressEntry(text)).toContain('needs a port')
  })

  it('names itself whatever way loopback is written', () => {
    expect(['localhost', 'a.localhost', 'localhost.', '127.0.0.1', '::1', '::ffff:127.0.0.1'].every(isLoopback)).toBe(
      true,
    )
    expect(['10.0.0.1', 'example.com', '::2', 'localhost.example.com'].some(isLoopback)).toBe(false)
  })
})

describe('the rules of the namespace', () => {
  it('open what the entries name before anything is closed, protocol by protocol where a port is named', async () => {
    const rules = await allowedRules([
      { target: '10.1.2.3', port: 9000 },
      { target: '192.168.0.0/16', port: null },
      { target: '127.0.0.1', port: 9000 },
    ])
    expect(rules).toEqual([
      'to 169.254.53.53 ipproto udp dport 53 lookup main priority 50',
      'to 169.254.53.53 ipproto tcp dport 53 lookup main priority 50',
      'to 10.1.2.3 ipproto tcp dport 9000 lookup main priority 50',
      'to 10.1.2.3 ipproto udp dport 9000 lookup main priority 50',
      'to 192.168.0.0/16 lookup main priority 50',
    ])
  })

  it('hold every address of a name', async () => {
    const rules = await allowedRules([{ target: 'store.internal', port: 443 }], async () => ['10.0.0.1', 'fd00::1'])
    expect(rules.slice(2).filter((rule) => rule.includes(' tcp '))).toEqual([
      'to 10.0.0.1 ipproto tcp dport 443 lookup main priority 50',
      'to fd00::1 ipproto tcp dport 443 lookup main priority 50',
    ])
  })

  it('close private networks, metadata services, and the networks of this machine', () => {
    const rules = closedRules(['203.0.113.0/24'])
    for (const network of [
      '10.0.0.0/8',
      '169.254.0.0/16',
      '172.16.0.0/12',
      '192.168.0.0/16',
      'fc00::/7',
      'fe80::/10',
      '64:ff9b::/96',
      '203.0.113.0/24',
    ])
      expect(rules).toContain(`to ${network} prohibit priority 100`)
  })

  it('know the networks of this machine by its addresses', () => {
    const address = (cidr: string, internal = false) => ({ cidr, internal }) as never
    expect(
      ownNetworks({
        lo: [address('127.0.0.1/8', true)],
        eth0: [address('203.0.113.7/24'), address('2001:db8::7/64')],
        tun: [address('1.2.3.4/0')],
      }),
    ).toEqual(['203.0.113.0/24', '2001:db8::/64'])
  })
})

it('proxies of the environment are reached at their port', () => {
  expect(
    proxyEntries({
      HTTPS_PROXY: 'http://user:secret@proxy.internal:3128',
      HTTP_PROXY: '10.0.0.1:8080',
      ALL_PROXY: 'https://[fd00::1]',
      NO_PROXY: 'x',
    }),
  ).toEqual([
    { target: '10.0.0.1', port: 8080 },
    { target: 'proxy.internal', port: 3128 },
    { target: 'fd00::1', port: 443 },
  ])
})

it('hosts of an offline engine are entries, loopback and suffixes are none', () => {
  expect(hostEntries('store.internal, 10.0.0.1:9000,127.0.0.1,.example.com,')).toEqual([
    { target: 'store.internal', port: null },
    { target: '10.0.0.1', port: 9000 },
  ])
})
