export type { OutgoingMessage, Language, MessageConnection } from './outgoing-message.ts'
export {
  Courier,
  mostWaiting,
  retryDelaysMs,
  type CourierOptions,
  type TryDelivery,
  type TryResult
} from './courier.ts'
export type { DesktopNotifier } from './desktop-notifier.ts'
export { messageText, type MessageText } from './message-text.ts'
export { phrasesOf, type OwnAnswer } from './phrases.ts'
export { deliveryBy, tryDeadlineMs, type DeliveryMeans } from './try-delivery.ts'
export { parseWebhookAddress, secretsOf, shownHost, type WebhookAddress } from './webhook-address.ts'
export { requireUsableTemplate } from './webhook-body.ts'
