import { describe, expect, it } from 'vitest'
import { createAddressReader } from '../../src/access/caller-address.ts'
import { configOf } from '../helpers/core.ts'

const PROXIES = ['10.0.0.0/8', '192.0.2.1', '2001:db8:1::/48', '::ffff:172.16.0.0/108']
const read = createAddressReader(PROXIES)

describe('the address of a caller', () => {
  it.each([
    ['no proxies are configured', [], '203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['the peer is no proxy, whatever it claims', PROXIES, '203.0.113.9', '198.51.100.1, 10.1.1.1', '203.0.113.9'],
    ['the peer is a proxy', PROXIES, '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['the caller invents entries', PROXIES, '10.1.2.3', '1.1.1.1, 2.2.2.2, 198.51.100.1', '198.51.100.1'],
    ['the caller invents a proxy', PROXIES, '10.1.2.3', '1.1.1.1, 10.9.9.9, 198.51.100.1', '198.51.100.1'],
    ['several proxies', PROXIES, '10.1.2.3', '1.1.1.1, 198.51.100.1, 192.0.2.1,10.0.0.7', '198.51.100.1'],
    ['only proxies', PROXIES, '10.1.2.3', '10.5.5.5, 192.0.2.1', '10.5.5.5'],
    ['no header', PROXIES, '10.1.2.3', null, '10.1.2.3'],
    ['an empty header', PROXIES, '10.1.2.3', '', '10.1.2.3'],
    ['an entry that is no address ends the search', PROXIES, '10.1.2.3', '1.1.1.1, unknown, 10.2.2.2', '10.2.2.2'],
    ['a name', PROXIES, '10.1.2.3', 'localhost', '10.1.2.3'],
    ['an attack in the header', PROXIES, '10.1.2.3', "=cmd|'/c calc'!A1", '10.1.2.3'],
    ['numbers that only some read as addresses', PROXIES, '10.1.2.3', '2130706433', '10.1.2.3'],
    ['octal and short forms', PROXIES, '10.1.2.3', '0177.0.0.1', '10.1.2.3'],
    ['a port', PROXIES, '10.1.2.3', '198.51.100.1:5678', '198.51.100.1'],
    ['IPv6', PROXIES, '2001:db8:1::7', '2001:DB8:2:0:0:0:0:9', '2001:db8:2::9'],
    ['IPv6 in brackets with a port', PROXIES, '10.1.2.3', '[2001:db8:2::9]:443', '2001:db8:2::9'],
    ['a zone is left out', [], 'fe80::1%eth0', null, 'fe80::1'],
    ['IPv4 in the form of IPv6', [], '::ffff:203.0.113.9', null, '203.0.113.9'],
    ['a proxy in that form', PROXIES, '::ffff:10.1.2.3', '::ffff:198.51.100.1', '198.51.100.1'],
    ['a range in that form', PROXIES, '172.17.0.1', '198.51.100.1', '198.51.100.1'],
    ['IPv6 is never in a range of IPv4', PROXIES, 'a00::1', '198.51.100.1', 'a00::1'],
  ])('%s', (_, proxies, peer, header, address) => {
    expect(createAddressReader(proxies)(peer, header)).toBe(address)
  })

  it('is not known without a peer, also when a header names one', () => {
    expect(read(null, '198.51.100.1')).toBeNull()
    expect(read('/run/core.sock', '198.51.100.1')).toBeNull()
  })

  it('is found in a header of any length, of which only the end is read', () => {
    expect(read('10.1.2.3', `${'10.0.0.1, '.repeat(5_000)}198.51.100.1`)).toBe('198.51.100.1')
    expect(read('10.1.2.3', `198.51.100.1${', 10.0.0.1'.repeat(5_000)}`)).toBe('10.0.0.1')
  })
})

describe('http.trusted_proxies', () => {
  it.each(['10.0.0.0/8', '203.0.113.7', '::1', '2001:db8::/32', '::ffff:10.0.0.0/104'])('takes %s', async (range) => {
    expect((await configOf(`http: { trusted_proxies: ["${range}"] }`)).http.trusted_proxies).toEqual([range])
  })

  it.each([
    '0.0.0.0/0',
    '::/0',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    'proxy.example.com',
    '10.1',
    '::ffff:0:0/96',
  ])('refuses %s', async (range) => {
    await expect(configOf(`http: { trusted_proxies: ["127.0.0.1", "${range}"] }`)).rejects.toThrow(
      'http.trusted_proxies must be a list of IP addresses and ranges such as 10.0.0.0/8',
    )
  })
})
