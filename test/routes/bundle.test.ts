import { build } from 'esbuild'
import { expect, it } from 'vitest'

it('routes/app.ts and all it reaches use web standards only', async () => {
  const result = await build({
    entryPoints: ['routes/app.ts'],
    bundle: true,
    write: false,
    metafile: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2024',
    logLevel: 'silent',
    // Required by the hash package of isomorphic-git; every server runtime has it.
    external: ['node:*', 'buffer'],
  })
  const inputs = Object.keys(result.metafile.inputs)
  expect(inputs).toContain('routes/app.ts')
  const imports = Object.values(result.metafile.outputs).flatMap(({ imports }) => imports.map(({ path }) => path))
  expect([...new Set(imports)]).toEqual(['buffer'])
  expect(inputs.filter((path) => path.startsWith('src/runtime/') || path.startsWith('node_modules/redis/'))).toEqual([])
})
