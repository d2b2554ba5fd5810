import { createServer, type Socket } from 'node:net'

export interface RespServer {
  url: string
  /** Commands in order of arrival, in upper case, without their arguments. */
  commands: string[]
  /**
   * `hang` never answers, `full` refuses to store more, `replica` to store anything. `old-cluster` does not know
   * `HELLO` and says of every key that it is at this server's port.
   */
  mode: 'answer' | 'hang' | 'full' | 'replica' | 'old-cluster'
  connections: () => number
  close(): Promise<void>
}

/** Starts a server of the part of the cache protocol (version 2) that the platform uses. */
export async function startRespServer(options: { port?: number; password?: string } = {}): Promise<RespServer> {
  const entries = new Map<string, string>()
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket)).on('error', () => {})
    let buffered = ''
    let trusted = options.password === undefined
    socket.on('data', (chunk) => {
      buffered += chunk.toString('utf8')
      for (let parsed = parse(buffered); parsed; parsed = parse(buffered)) {
        buffered = buffered.slice(parsed.length)
        const [name = '', ...args] = parsed.words
        resp.commands.push(name.toUpperCase())
        if (resp.mode === 'hang') continue
        if (name.toUpperCase() === 'AUTH') trusted = args.at(-1) === options.password
        if (resp.mode === 'old-cluster' && name.toUpperCase() === 'CLUSTER') {
          socket.write(`*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$9\r\n127.0.0.1\r\n:${port}\r\n$2\r\nid\r\n`)
          resp.mode = 'answer'
          continue
        }
        if (resp.mode === 'old-cluster' && name.toUpperCase() !== 'PING') {
          const moved = ['GET', 'SET', 'DEL'].includes(name.toUpperCase())
          socket.write(moved ? `-MOVED 1 127.0.0.1:${port}\r\n` : '-ERR unknown command\r\n')
          continue
        }
        const refusal = name.toUpperCase() === 'SET' ? REFUSALS[resp.mode] : undefined
        if (refusal) socket.write(refusal)
        else socket.write(trusted ? answer(entries, name.toUpperCase(), args) : '-NOAUTH Authentication required.\r\n')
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(options.port ?? 0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const resp: RespServer = {
    url: `redis://${options.password === undefined ? '' : `:${options.password}@`}127.0.0.1:${port}/0`,
    commands: [],
    mode: 'answer',
    connections: () => sockets.size,
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return resp
}

const REFUSALS: Partial<Record<RespServer['mode'], string>> = {
  full: "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
  replica: "-READONLY You can't write against a read only replica.\r\n",
}

function answer(entries: Map<string, string>, name: string, args: string[]): string {
  const [key = '', value = ''] = args
  switch (name) {
    case 'PING':
      return '+PONG\r\n'
    case 'GET': {
      const found = entries.get(key)
      return found === undefined ? '$-1\r\n' : `$${Buffer.byteLength(found)}\r\n${found}\r\n`
    }
    case 'SET':
      entries.set(key, value)
      return '+OK\r\n'
    case 'DEL':
      return `:${args.filter((name) => entries.delete(name)).length}\r\n`
    default:
      return '+OK\r\n'
  }
}

/** Parses one command at the start of the text; null while it is incomplete. */
function parse(text: string): { words: string[]; length: number } | null {
  const head = /^\*(\d+)\r\n/.exec(text)
  if (!head) return null
  let rest = Buffer.from(text.slice(head[0].length))
  let length = head[0].length
  const words: string[] = []
  for (let index = 0; index < Number(head[1]); index++) {
    const size = /^\$(\d+)\r\n/.exec(rest.toString('latin1'))
    if (!size) return null
    const end = size[0].length + Number(size[1])
    if (rest.length < end + 2) return null
    const word = rest.subarray(size[0].length, end).toString('utf8')
    words.push(word)
    rest = rest.subarray(end + 2)
    length += size[0].length + word.length + 2
  }
  return { words, length }
}
