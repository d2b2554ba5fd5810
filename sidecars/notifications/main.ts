import { runService } from '../shared/run-service.ts'
import { createNotificationsApp } from './app.ts'
import { chatChannel } from './channels/chat.ts'
import { emailChannel } from './channels/email.ts'
import { webhookChannel } from './channels/webhook.ts'
import { createDeliveries } from './deliveries.ts'
import type { Channel } from './message.ts'
import { type ChannelSettings, readSettings } from './settings.ts'

export const main = (): Promise<void> =>
  runService({
    name: 'notifications',
    tokenVariable: 'PLATFORM_NOTIFICATIONS_TOKEN',
    secrets: ['CHAT_WEBHOOK_URL', 'SMTP_URL', 'NOTIFICATIONS_WEBHOOK_URL', 'NOTIFICATIONS_WEBHOOK_SECRET'],
    readSettings,
    open: async ({ token, channel }, log) => {
      log.info('channel', { channel: channel.channel })
      const app = createNotificationsApp({ token, deliveries: createDeliveries(openChannel(channel)), log })
      return { fetch: (request) => app.fetch(request) }
    },
  })

function openChannel(settings: ChannelSettings): Channel {
  switch (settings.channel) {
    case 'chat':
      return chatChannel(settings.webhookUrl, fetch)
    case 'email':
      return emailChannel(settings)
    case 'webhook':
      return webhookChannel(settings.url, settings.secret, fetch)
  }
}
