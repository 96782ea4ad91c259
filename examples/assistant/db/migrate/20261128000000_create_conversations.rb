# frozen_string_literal: true

class CreateConversations < ActiveRecord::Migration[8.0]
  def change
    create_table(:conversations) { |t| t.timestamps }
    create_table :messages do |t|
      t.references :conversation, null: false, foreign_key: true
      t.string :role, null: false
      t.resumable_stream :content
      t.timestamps
    end
  end
end
