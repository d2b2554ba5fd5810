import { describe, expect, it } from 'vitest'
import { namesAddress, namesResource } from '../../src/plan/addresses.ts'

describe('namesAddress', () => {
  it.each([
    ['Set x.a to 1', 'x.a'],
    ['x.a', 'x.a'],
    ['`x.a`: size', 'x.a'],
    ['x.a.size is 1.', 'x.a'],
    ['(x.ab, x.a)', 'x.a'],
    ['x.a["k"] and others', 'x.a["k"]'],
    ['{"address":"x.a[\\"k\\"]"}', 'x.a["k"]'],
    ['module.m.x.a', 'module.m.x.a'],
  ])('%j names %j', (text, address) => expect(namesAddress(text, address)).toBe(true))
  it.each([
    ['Set x.ab to 1', 'x.a'],
    ['module.m.x.a', 'x.a'],
    ['module.m["k"].x.a', 'x.a'],
    ['ax.a', 'x.a'],
    ['x.a[0]', 'x.a'],
    ['x.a-b', 'x.a'],
    ['the a of x', 'x.a'],
  ])('%j does not name %j', (text, address) => expect(namesAddress(text, address)).toBe(false))
})

describe('namesResource', () => {
  it.each([
    ['Set x.a in the network module', 'module.net["eu.west"].x.a[0]'],
    ['Remove module.net', 'module.net'],
    ['module.net["eu"].x.a[1]: size', 'module.net.x.a'],
    ['{"address":"x.a[\\"k\\"]"}', 'x.a["k"]'],
  ])('%j names %j', (text, address) => expect(namesResource(text, address)).toBe(true))
  it.each([
    ['Remove x.b', 'module.net.x.a'],
    ['the tags of x.ab', 'x.a'],
    ['the tags of ax.a', 'x.a'],
  ])('%j does not name %j', (text, address) => expect(namesResource(text, address)).toBe(false))
})
