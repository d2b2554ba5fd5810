import { createServer, type Server } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { emailChannel } from '../../../../sidecars/notifications/channels.ts'
import { Notification } from '../../../../sidecars/notifications/deliveries.ts'

interface Mail {
  recipients: string[]
  data: string
}
let server: Server | undefined
afterEach(() => server?.close())

/** Starts the part of SMTP that accepts one mail a connection. */
async function startMailServer(answers: { rcpt?: string } = {}): Promise<{ url: string; mails: Mail[] }> {
  const mails: Mail[] = []
  server = createServer((socket) => {
    const mail: Mail = { recipients: [], data: '' }
    let in_data = false
    let pending = ''
    socket.write('220 test\r\n')
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      pending += chunk.toString('utf8')
      for (;;) {
        const end = pending.indexOf('\r\n')
        if (end < 0) return
        const line = pending.slice(0, end)
        pending = pending.slice(end + 2)
        if (in_data && line === '.') {
          in_data = false
          mails.push(mail)
          socket.write('250 taken\r\n')
        } else if (in_data) mail.data += `${line}\n`
        else if (/^RCPT TO:<(.*)>/.test(line)) {
          mail.recipients.push(/<(.*)>/.exec(line)?.[1] ?? '')
          socket.write(`${answers.rcpt ?? '250 ok'}\r\n`)
        } else if (line === 'DATA') {
          in_data = true
          socket.write('354 go\r\n')
        } else socket.write(line === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n')
      }
    })
  })
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return { url: `smtp://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`, mails }
}

const note = (more: object = {}) =>
  Notification.parse({
    kind: 'iac.impact.high',
    severity: 'warning',
    subject: 'High impact',
    body: 'A database goes.',
    ...more,
  })
const settings = (smtpUrl: string) => ({ smtpUrl, from: 'platform@example.com', to: ['ops@example.com'] })

describe('e-mail', () => {
  it('goes to the addresses of the audience, hidden from each other', async () => {
    const { url, mails } = await startMailServer()
    const links = [{ label: 'Session', url: 'https://platform.example.com/s' }]
    const context = { session_id: 's1' }
    await emailChannel(settings(url)).deliver(
      note({ audience: ['a@example.com', 'team', 'b@example.com'], links, context }),
      'd-1',
    )
    const [mail] = mails
    expect(mail?.recipients).toEqual(['a@example.com', 'b@example.com'])
    expect(mail?.data).toContain('Subject: [warning] High impact\n')
    expect(mail?.data).toContain('X-Delivery-ID: d-1\n')
    expect(mail?.data).not.toMatch(/^(To|Cc|Bcc):.*example/m)
    expect(mail?.data).toContain(
      'A database goes.\n\nSession: https://platform.example.com/s\n\nKind: iac.impact.high\nSeverity: warning\n' +
        'Session id: s1',
    )
  })

  it('goes to the configured recipients when the audience names no address', async () => {
    const { url, mails } = await startMailServer()
    await emailChannel(settings(url)).deliver(note({ audience: ['editors', 'x@y, z@w'] }), 'd-2')
    expect(mails[0]?.recipients).toEqual(['ops@example.com'])
  })

  it('fails when nobody was accepted or nobody answers', async () => {
    const { url } = await startMailServer({ rcpt: '550 no such user' })
    await expect(emailChannel(settings(url)).deliver(note(), 'd-3')).rejects.toThrow()
    await expect(emailChannel(settings('smtp://127.0.0.1:1')).deliver(note(), 'd-4')).rejects.toThrow()
  })
})
