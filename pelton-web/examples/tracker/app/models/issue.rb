# app/models/issue.rb
# frozen_string_literal: true

class Issue < Pelton::Record::Model
  belongs_to :user
  has_many :comments, dependent: :destroy
  has_many :attachments, dependent: :destroy
  enum :state, [:reported, :fixed], default: :reported, validate: true

  # Attributes that forms may set.
  permits :title, :text, :state

  validates :title, presence: true, length: {maximum: 100}
  validates :text, length: {maximum: 10_000}

  # Issues that have all the words in their title or text, newest first.
  def self.search(words)
    words.split.first(5).inject(order(id: :desc)) do |found, word|
      pattern = "%#{sanitize_sql_like(word)}%"
      found.where(Sequel.ilike(:title, pattern) | Sequel.ilike(:text, pattern))
    end
  end
end
