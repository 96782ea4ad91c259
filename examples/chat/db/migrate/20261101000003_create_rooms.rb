# frozen_string_literal: true

Sequel.migration do
  change do
    create_table(:rooms) do
      primary_key :id
      # Of a direct conversation: the ids of its members, so that there is one.
      String :direct_key, size: 200, index: {unique: true}
      String :name, size: 60
      Integer :kind, null: false, default: 0
      foreign_key :creator_id, :users, index: true, on_delete: :set_null
      # The newest message's, and a number that each change in the room increments: pages are kept by it.
      Bignum :last_message_id, null: false, default: 0
      Bignum :version, null: false, default: 0
      DateTime :created_at, null: false
      DateTime :updated_at, null: false
    end

    create_table(:memberships) do
      primary_key :id
      foreign_key :room_id, :rooms, null: false, on_delete: :cascade
      foreign_key :user_id, :users, null: false, index: true, on_delete: :cascade
      # A room is unread if its newest message is a later one.
      Bignum :read_message_id, null: false, default: 0
      DateTime :created_at, null: false
      DateTime :updated_at, null: false
      index [:room_id, :user_id], unique: true
    end
  end
end
