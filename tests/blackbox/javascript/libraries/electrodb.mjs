// A gym in ElectroDB: keys in lower case and as they are, padded numbers, choices, an attribute that is stored under another name.

import { Entity } from 'electrodb'
import { client } from '../endpoint.js'

const options = { table: process.env.LIBRARY_TABLE, client }

export const Member = new Entity(
  {
    model: { entity: 'member', version: '1', service: 'gym' },
    attributes: { memberId: { type: 'string', required: true }, name: { type: 'string', required: true, field: 'n' } },
    indexes: { own: { collection: 'account', pk: { field: 'pk', composite: ['memberId'] }, sk: { field: 'sk', composite: [] } } },
  },
  options,
)

export const Booking = new Entity(
  {
    model: { entity: 'booking', version: '2', service: 'gym' },
    attributes: {
      memberId: { type: 'string', required: true },
      bookingId: { type: 'string', required: true, field: 'b' },
      number: { type: 'number', required: true, padding: { length: 6, char: '0' } },
      state: { type: ['BOOKED', 'DONE', 'noShow'], required: true },
    },
    indexes: {
      own: { collection: 'account', pk: { field: 'pk', composite: ['memberId'] }, sk: { field: 'sk', composite: ['number', 'bookingId'] } },
      byState: {
        index: 'gsi1',
        pk: { field: 'gsi1pk', composite: ['state'] },
        sk: { field: 'gsi1sk', template: 'B#${bookingId}', composite: ['bookingId'], casing: 'none' },
      },
    },
  },
  options,
)

export async function write() {
  await Member.put({ memberId: 'Ann-1', name: 'Ann' }).go()
  await Booking.put({ memberId: 'Ann-1', bookingId: 'X7', number: 42, state: 'BOOKED' }).go()
  await Booking.put({ memberId: 'bob', bookingId: 'x8', number: 7, state: 'noShow' }).go()
}
