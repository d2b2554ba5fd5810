import { expect, it } from 'vitest'
import { compareImage, imagesIn } from '../../dev/image-digests.ts'
import { interceptRequests, recordRequests } from '../helpers/intercept.ts'

const server = interceptRequests()
const [A, B] = ['a', 'b'].map((letter) => `sha256:${letter.repeat(64)}`) as [string, string]

/** Serves the digests of these references, after a sign-in as registries want it. */
function serveImages(origin: string, digests: Record<string, string>) {
  recordRequests(server, 'https://sign-in.example', () => Response.json({ token: 'anonymous' }))
  return recordRequests(server, origin, ({ url, headers }) => {
    const challenge = 'Bearer realm="https://sign-in.example/token",service="registry"'
    if (headers.get('authorization') !== 'Bearer anonymous')
      return new Response(null, { status: 401, headers: { 'www-authenticate': challenge } })
    const digest = digests[url.slice(url.lastIndexOf('/') + 1)]
    return digest
      ? new Response(null, { headers: { 'docker-content-digest': digest } })
      : new Response(null, { status: 404 })
  })
}

it('finds the images of both files, and not the one that is built here', () => {
  const text = [
    `ARG NODE_IMAGE=node:24.1.0-slim@${A}`,
    `#   --build-arg ENGINE_IMAGE=ghcr.io/opentofu/opentofu:1.2.3-minimal --build-arg ENGINE_PATH=/x`,
    '    image: platform-core:local',
    '    image: redis:8.0.3',
    '',
  ].join('\n')
  expect(imagesIn(text)).toEqual([
    { name: 'node:24.1.0-slim', pinned: A },
    { name: 'ghcr.io/opentofu/opentofu:1.2.3-minimal', pinned: null },
    { name: 'redis:8.0.3', pinned: null },
  ])
})

it('tells an image as it is, one whose tag has moved, and one that is no longer served', async () => {
  const seen = serveImages('https://registry-1.docker.io', { '18.4': A, [A]: A, [B]: B })
  expect(await compareImage({ name: 'postgres:18.4', pinned: A })).toEqual({ current: A, good: true, said: `is ${A}` })
  expect(await compareImage({ name: 'postgres:18.4', pinned: B })).toMatchObject({ current: A, good: true })
  const lost = `sha256:${'c'.repeat(64)}`
  const { good, said } = await compareImage({ name: 'postgres:18.4', pinned: lost })
  expect([good, said]).toEqual([false, expect.stringContaining('DOES NOT SERVE')])
  expect(seen[0]?.line).toBe('HEAD /v2/library/postgres/manifests/18.4')
})

it('asks the host that a name begins with, and finds a missing digest', async () => {
  const seen = serveImages('https://ghcr.io', { '1.2.3': A })
  expect(await compareImage({ name: 'ghcr.io/some/engine:1.2.3', pinned: null })).toMatchObject({
    current: A,
    good: false,
  })
  expect(seen[0]?.line).toBe('HEAD /v2/some/engine/manifests/1.2.3')
  await expect(compareImage({ name: 'ghcr.io/some/engine:9', pinned: null })).rejects.toThrow('has no ghcr.io')
})
