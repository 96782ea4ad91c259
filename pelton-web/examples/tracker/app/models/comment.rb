# app/models/comment.rb
# frozen_string_literal: true

class Comment < Pelton::Record::Model
  belongs_to :issue
  belongs_to :user

  # Attributes that forms may set.
  permits :text

  validates :text, presence: true, length: {maximum: 10_000}
end
