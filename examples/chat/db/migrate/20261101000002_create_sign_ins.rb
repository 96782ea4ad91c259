# frozen_string_literal: true

Sequel.migration do
  change do
    create_table(:sign_ins) do
      primary_key :id
      foreign_key :user_id, :users, null: false, index: true, on_delete: :cascade
      String :token_digest, size: 64, null: false
      String :previous_digest, size: 64
      DateTime :rotated_at, null: false, index: true
      TrueClass :remembered, null: false, default: false
      String :device, size: 200
      String :address, size: 45
      DateTime :created_at, null: false
      DateTime :updated_at, null: false
    end
  end
end
