# frozen_string_literal: true

require "uri"

class User < Pelton::Record::Model
  # Characters of a password. A sentence is welcome; longer text only keeps the server busy.
  PASSWORD_SIZE = 12..256

  has_many :sign_ins, dependent: :delete_all
  has_many :memberships, dependent: :delete_all
  has_many :rooms, through: :memberships
  enum :role, [:member, :admin, :bot], default: :member, validate: true

  # Attributes that forms may set.
  permits :name, :email, :password

  before_validation { self.handle ||= User.free_handle(name) if name.present? }

  normalizes :email, with: ->(email) { User.normalize(email) }
  validates :name, presence: true, length: {maximum: 60}
  validates :email, presence: true
  validates :email, length: {maximum: 254}, format: {with: URI::MailTo::EMAIL_REGEXP}, uniqueness: true, allow_blank: true
  validates :password, length: {in: PASSWORD_SIZE}, if: -> { new_record? || password }

  attr_reader :password

  class << self
    # @return [User, nil] the user, if the password is right. Takes as long for an unknown address
    def authenticate(email, password)
      user = find_by(email: normalize(email))
      user if Pelton::Web::Password.right?(password, user&.password_digest) && user.active?
    end

    # @return [String] "ann.smith" for Ann Smith, or with a number if others have that
    def free_handle(name)
      base = name.unicode_normalize(:nfkd).downcase.scan(/[a-z0-9]+/).join(".")[0, 50]
      base = "user" if base.empty?
      taken = where(Sequel.like(:handle, "#{sanitize_sql_like(base)}%")).pluck(:handle)
      [base, *(2..).lazy.map { |number| "#{base}.#{number}" }.first(taken.size + 1)].find { |handle| !taken.include?(handle) }
    end

    def normalize(email) = email.to_s.scrub("").strip.downcase
  end

  # Creates the digest here, in a thread, rather than while saving, when a transaction is open.
  def password=(text)
    @password = text.to_s
    self.password_digest = Pelton::Web::Password.digest(@password) if PASSWORD_SIZE.cover?(@password.size)
  end

  def active? = deactivated_at.nil?

  # Signs the user out everywhere, or lets the user in again. Open pages lose their connection, in all processes.
  def active=(active)
    update!(deactivated_at: active ? nil : Time.now)
    return if active
    SignIn.end_all(id)
  end

  # @return [String] up to two letters, for a user without a picture
  def initials = name.split.values_at(0, -1).uniq.map { |word| word[0] }.join.upcase

  # @return [Boolean] whether the password is right
  def password?(text) = Pelton::Web::Password.right?(text, password_digest)

  private

  # Keeps it out of `render json: user`.
  def attribute_names_for_serialization = super - ["password_digest"]
end
