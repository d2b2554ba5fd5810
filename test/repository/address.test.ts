import { describe, expect, it } from 'vitest'
import { isPublicAddress } from '../../src/repository/allowed-addresses.ts'

describe('public addresses', () => {
  it.each([
    '8.8.8.8',
    '140.82.112.3',
    '2606:4700::1',
    '::ffff:8.8.8.8',
    '64:ff9b::808:808',
    '2002:808:808::1',
  ])('%s is one', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  it.each([
    '127.0.0.1',
    '10.0.0.1',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '0.0.0.0',
    '224.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fc00::1',
    'fd12::1',
    'ff02::1',
    'fec0::1',
    '2001:db8::1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '::ffff:0:10.0.0.1',
    '64:ff9b::a00:1',
    '64:ff9b:1::808:808',
    '2002:7f00:1::',
    '2001::1',
    '::808:808',
    'localhost',
    '',
    '1.2.3',
  ])('%j is none', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })
})
