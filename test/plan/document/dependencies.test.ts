import { describe, expect, it } from 'vitest'
import { documentOf, entry, planFrom } from './support.ts'

const made = (address: string) => entry(address, { actions: ['create'] })
const block = (address: string, references: string[], rest: object = {}) => {
  const [type = '', name = ''] = address.split('.').slice(-2)
  return {
    address,
    mode: address.startsWith('data.') ? 'data' : 'managed',
    type,
    name,
    expressions: { x: { references } },
    ...rest,
  }
}
const edges = (addresses: string[], root_module: object, rest: object = {}) =>
  Object.fromEntries(
    documentOf(planFrom(addresses.map(made), { configuration: { root_module }, ...rest })).resources.flatMap(
      ({ address, depends_on }) => (depends_on.length > 0 ? [[address, depends_on]] : []),
    ),
  )

describe('dependencies of a plan document', () => {
  it('follows references and depends_on to listed resources alone', () => {
    const found = edges(['aws_vpc.a', 'aws_subnet.b', 'data.aws_ami.c', 'aws_instance.d'], {
      resources: [
        block('aws_vpc.a', ['var.cidr', 'path.module', 'aws_vpc.a']),
        block('aws_subnet.b', ['aws_vpc.a.id', 'aws_vpc.a', 'aws_gone.x']),
        block('data.aws_ami.c', []),
        block('aws_instance.d', ['data.aws_ami.c.id', 'data.aws_ami.c'], { depends_on: ['aws_subnet.b'] }),
      ],
    })
    expect(found).toEqual({ 'aws_subnet.b': ['aws_vpc.a'], 'aws_instance.d': ['aws_subnet.b', 'data.aws_ami.c'] })
  })

  it('goes through inputs, outputs, indexes and keys of nested modules', () => {
    const inner = {
      resources: [block('aws_subnet.s', ['var.vpc']), block('aws_route.r', ['aws_subnet.s.id', 'aws_subnet.s'])],
      outputs: { id: { expression: { references: ['aws_subnet.s.id', 'aws_subnet.s'] } } },
    }
    const outer = {
      module_calls: { inner: { module: inner, expressions: { vpc: { references: ['var.vpc'] } } } },
      outputs: { id: { expression: { references: ['module.inner.id', 'module.inner'] } } },
    }
    const root = {
      resources: [
        block('aws_vpc.v', []),
        block('aws_all.a', ['module.net.id', 'module.net']),
        block('aws_one.o', ['module.net["b"].id', 'module.net["b"]', 'module.net']),
        block('aws_whole.w', [], { depends_on: ['module.net'] }),
        block('aws_count.c', ['aws_pair.p', 'count.index'], { count_expression: { constant_value: 2 } }),
        block('aws_pair.p', []),
        block('aws_first.f', ['aws_pair.p[0].id', 'aws_pair.p[0]', 'aws_pair.p']),
      ],
      module_calls: {
        net: {
          module: outer,
          expressions: { vpc: { references: ['aws_vpc.v.id', 'aws_vpc.v'] } },
          for_each_expression: { references: ['aws_first.f'] },
        },
      },
    }
    const at = (key: string, name: string) => `module.net["${key}"].module.inner.${name}`
    const found = edges(
      [
        'aws_vpc.v',
        at('a', 'aws_subnet.s'),
        at('b', 'aws_subnet.s'),
        at('a', 'aws_route.r'),
        'aws_all.a',
        'aws_one.o',
        'aws_whole.w',
        'aws_pair.p[0]',
        'aws_pair.p[1]',
        'aws_count.c[1]',
        'aws_first.f',
      ],
      root,
    )
    expect(found).toEqual({
      [at('a', 'aws_subnet.s')]: ['aws_vpc.v', 'aws_first.f'],
      [at('b', 'aws_subnet.s')]: ['aws_vpc.v', 'aws_first.f'],
      [at('a', 'aws_route.r')]: [at('a', 'aws_subnet.s'), 'aws_first.f'],
      'aws_all.a': [at('a', 'aws_subnet.s'), at('b', 'aws_subnet.s')],
      'aws_one.o': [at('b', 'aws_subnet.s')],
      'aws_whole.w': [at('a', 'aws_subnet.s'), at('b', 'aws_subnet.s'), at('a', 'aws_route.r')],
      'aws_count.c[1]': ['aws_pair.p[1]'],
      'aws_first.f': ['aws_pair.p[0]'],
    })
  })

  it('asks the state about what the code does not have, and about local values', () => {
    const resource = (address: string, depends_on: string[]) => ({ address, depends_on })
    const found = edges(
      ['aws_vpc.v', 'aws_gone.g', 'aws_local.l', 'aws_coded.c', 'module.m[0].aws_a.x', 'module.m[0].aws_gone.y'],
      { resources: [block('aws_vpc.v', []), block('aws_local.l', ['local.id']), block('aws_coded.c', [])] },
      {
        prior_state: {
          values: {
            root_module: {
              resources: ['gone.g', 'local.l', 'coded.c'].map((name) => resource(`aws_${name}`, ['aws_vpc.v'])),
              child_modules: [{ resources: [resource('module.m[0].aws_gone.y', ['module.m.aws_a.x'])] }],
            },
          },
        },
      },
    )
    expect(found).toEqual({
      'aws_gone.g': ['aws_vpc.v'],
      'aws_local.l': ['aws_vpc.v'],
      'module.m[0].aws_gone.y': ['module.m[0].aws_a.x'],
    })
  })

  it('ends where modules refer to each other in a circle, and lists a hundred at most', () => {
    const call = (of: string) => ({
      module: { outputs: { o: { expression: { references: ['var.v'] } } }, resources: [block('a.x', ['var.v'])] },
      expressions: { v: { references: [`module.${of}.o`, `module.${of}`] } },
    })
    expect(edges(['module.m.a.x', 'module.n.a.x'], { module_calls: { m: call('n'), n: call('m') } })).toEqual({})
    const many = Array.from({ length: 150 }, (_, index) => `a.many[${index}]`)
    const { resources } = documentOf(
      planFrom([...many, 'a.one'].map(made), {
        configuration: { root_module: { resources: [block('a.many', []), block('a.one', ['a.many'])] } },
      }),
    )
    expect(resources.at(-1)?.depends_on).toEqual(many.slice(0, 100))
    expect(resources.at(-1)?.depends_on_left_out).toBe(50)
  })
})
