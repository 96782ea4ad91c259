# frozen_string_literal: true

Sequel.migration do
  change do
    # A bot is a user without a password, who posts with a token.
    create_table(:bots) do
      primary_key :id
      foreign_key :user_id, :users, null: false, index: {unique: true}, on_delete: :cascade
      String :token_digest, size: 64, null: false, index: {unique: true}
      # Gets the messages that mention the bot.
      String :webhook_url, size: 2000
      DateTime :created_at, null: false
      DateTime :updated_at, null: false
    end
  end
end
