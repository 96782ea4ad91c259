# frozen_string_literal: true

Sequel.migration do
  change do
    create_table(:messages) do
      primary_key :id, type: :Bignum
      foreign_key :room_id, :rooms, null: false, on_delete: :cascade
      foreign_key :user_id, :users, null: false, index: true, on_delete: :cascade
      String :text, text: true, null: false
      # Chosen by the client: a message that is sent again, after a lost connection, is not posted twice.
      String :client_id, size: 36, null: false
      DateTime :edited_at
      DateTime :created_at, null: false
      DateTime :updated_at, null: false
      index [:room_id, :id]
      index [:user_id, :client_id], unique: true
    end

    create_table(:attachments) do
      primary_key :id
      foreign_key :message_id, :messages, type: :Bignum, null: false, index: {unique: true}, on_delete: :cascade
      String :file, size: 100, null: false
      String :thumbnail, size: 100
      String :name, size: 255, null: false
      String :kind, size: 100, null: false
      Bignum :size, null: false
      # Why there is no thumbnail.
      String :problem, size: 100
      Integer :width
      Integer :height
      DateTime :created_at, null: false
      DateTime :updated_at, null: false
    end

    create_table(:reactions) do
      primary_key :id
      foreign_key :message_id, :messages, type: :Bignum, null: false, on_delete: :cascade
      foreign_key :user_id, :users, null: false, index: true, on_delete: :cascade
      String :emoji, size: 16, null: false
      DateTime :created_at, null: false
      DateTime :updated_at, null: false
      index [:message_id, :user_id, :emoji], unique: true
    end
  end
end
